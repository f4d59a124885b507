/** Code as small as it gets while a stack trace still says where it was. */
import { minifySync, parseSync } from "rolldown/utils";

/** Without blanks, a line for each statement and each member of a class: Node prints the line, and names it, of what nobody caught. */
export function squeezeLines(name: string, code: string): string {
  const small = minifySync(name, code, { module: true, compress: false, mangle: false }).code;
  const starts = new Set<number>();
  collectStarts(parseSync(name, small).program, starts);
  const cuts = [0, ...[...starts].filter((at) => at > 0 && small[at - 1] !== "\n").sort((a, b) => a - b), small.length];
  return inAscii(
    cuts
      .slice(1)
      .map((end, i) => small.slice(cuts[i], end))
      .join("\n"),
  );
}

/** Code of others, in which no fault of ours is looked for: one line. Their errors are named as their classes, which keep their names. */
export function squeezeAll(name: string, code: string): string {
  const keepNames = { function: false, class: true };
  return inAscii(minifySync(name, code, { module: true, compress: { keepNames }, mangle: { keepNames } }).code);
}

/**
 * Other letters as escapes, which say the same in strings, templates and patterns. Node keeps the text of a module as long as the module: one
 * letter beyond Latin makes it two bytes a letter.
 */
function inAscii(code: string): string {
  if (/String\.raw`[^`]*[\u0080-\uffff]/.test(code))
    throw new Error("a raw template holds what cannot be escaped in it");
  return code.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const LISTS: Readonly<Record<string, string>> = {
  Program: "body",
  BlockStatement: "body",
  StaticBlock: "body",
  ClassBody: "body",
  SwitchCase: "consequent",
};

/** Where statements and members of classes begin, below `node`. */
function collectStarts(node: unknown, into: Set<number>): void {
  if (Array.isArray(node)) for (const item of node) collectStarts(item, into);
  if (!isNode(node)) return;
  const list = node[LISTS[node.type] ?? ""];
  if (Array.isArray(list)) for (const item of list) if (isNode(item)) into.add(item.start);
  for (const value of Object.values(node)) if (typeof value === "object") collectStarts(value, into);
}

type Node = { readonly type: string; readonly start: number } & Readonly<Record<string, unknown>>;
const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value;
