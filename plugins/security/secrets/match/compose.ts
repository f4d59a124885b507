/** From the parts of a shape to a regular expression for V8, and to the literals that lead to it. */
import { type Part, parseShape } from "./shape.ts";

/** A literal that every match holds at a fixed place, or behind a leading run that is walked backwards. */
export interface Anchor {
  text: string;
  /** Characters from the start of the match to the literal. */
  back: number;
  /** The run in front of the literal when its length varies: 0 or more characters of `chars`. */
  run?: { chars: string; min: number; max: number };
}

const RUN_LIMIT = 4096;

/** `marked`: group 1 of the expression is the secret. */
export function readShape(shape: string): { parts: Part[]; marked: boolean } {
  const parts = parseShape(shape);
  return { parts, marked: hasSecret(parts) };
}

function hasSecret(parts: readonly Part[]): boolean {
  return parts.some((part) => part.type === "secret" || (part.type === "choice" && part.options.some(hasSecret)));
}

/** Source of the expression. `insensitive` takes both cases of every letter; it is spelled out in the classes, `(?i)` would also fold K and ſ. */
export function toSource(parts: readonly Part[], insensitive = false): string {
  return parts.map((part) => partSource(part, insensitive)).join("");
}

function partSource(part: Part, insensitive: boolean): string {
  if (part.type === "text") return literalSource(part.text, insensitive);
  if (part.type === "secret") return `(${toSource(part.parts, insensitive)})`;
  if (part.type === "choice") {
    const options = part.options.map((option) => toSource(option, insensitive)).join("|");
    return `(?:${options})${part.optional ? "?" : ""}`;
  }
  const count = part.min === part.max ? `{${part.min}}` : `{${part.min},${part.max}}`;
  return classSource(part.chars, part.negated, insensitive) + count + (part.lazy ? "?" : "");
}

export function literalSource(text: string, insensitive: boolean): string {
  return text.replace(/[\s\S]/g, (char) => {
    if (insensitive && /[a-z]/i.test(char)) return `[${char.toLowerCase()}${char.toUpperCase()}]`;
    return char.replace(/[\\^$.*+?()[\]{}|/]/, "\\$&");
  });
}

/** `a-f0-9_-` → `[a-f0-9_\-]`; with `insensitive` both cases. An empty negated class is any character. */
export function classSource(chars: string, negated = false, insensitive = false): string {
  const key = `${negated}${insensitive}${chars}`;
  const source = classes.get(key) ?? toClass(chars, negated, insensitive);
  classes.set(key, source);
  return source;
}

/** Most rows share some. */
const classes = new Map<string, string>();

function toClass(chars: string, negated: boolean, insensitive: boolean): string {
  if (negated && chars === "") return "[^]";
  let out = "";
  for (let i = 0; i < chars.length; i++) {
    const char = chars.charAt(i);
    const end = /[A-Za-z0-9]/.test(char) && chars[i + 1] === "-" ? chars[i + 2] : undefined;
    if (end !== undefined && /[A-Za-z0-9]/.test(end)) {
      const range = `${char}-${end}`;
      out += insensitive && /[a-z]/i.test(char) ? range.toLowerCase() + range.toUpperCase() : range;
      i += 2;
    } else if (insensitive && /[a-z]/i.test(char)) out += char.toLowerCase() + char.toUpperCase();
    else out += char.replace(/[\\\]^-]/, "\\$&");
  }
  return `[${negated ? "^" : ""}${out}]`;
}

/**
 * Literals of which every match contains one, as long as possible. Throws when the shape begins with a run of
 * varying length that no literal follows: such a rule could not be started from a keyword.
 */
export function toAnchors(parts: readonly Part[]): Anchor[] {
  const flat = flatten(parts);
  const [first, second] = flat;
  if (first?.type === "run" && first.min !== first.max) {
    if (second?.type !== "text" || first.negated || first.max > RUN_LIMIT * 4) {
      throw new RangeError("A shape that begins with a varying run needs a literal after it");
    }
    return [{ text: second.text, back: 0, run: { chars: first.chars, min: first.min, max: first.max } }];
  }
  let best: Anchor[] = [];
  let offset = 0;
  for (let i = 0; i < flat.length; ) {
    const { texts, next } = literalsFrom(flat, i);
    const found = texts.map((text) => ({ text, back: offset }));
    if (shortest(found) > shortest(best)) best = found;
    for (const part of flat.slice(i, Math.max(next, i + 1))) offset += widthOf(part) ?? Number.NaN;
    if (Number.isNaN(offset)) break;
    i = Math.max(next, i + 1);
  }
  if (best.length === 0) throw new RangeError("A shape needs a literal at a fixed place");
  return best;
}

const MAX_LITERALS = 24;

/** What literals and choices of literals spell from part `from` on, up to the part `next` that is neither. */
function literalsFrom(parts: readonly Part[], from: number): { texts: string[]; next: number } {
  let texts: string[] = [];
  let next = from;
  for (; next < parts.length; next++) {
    const part = parts[next];
    const options = part ? toLiterals(part) : [];
    if (options.length === 0 || options.length * Math.max(1, texts.length) > MAX_LITERALS) break;
    texts = texts.length === 0 ? options : texts.flatMap((text) => options.map((option) => text + option));
    if (part?.type === "choice" && part.options.some((option) => option.length > 1)) {
      next++;
      break;
    }
  }
  return { texts, next };
}

/** The literals that begin a match; used to mask a finding without a character of the secret. */
export function headOf(parts: readonly Part[], value: string): string {
  const { texts } = literalsFrom(flatten(parts), 0);
  return texts.find((text) => value.startsWith(text)) ?? "";
}

/** The class at the end of the shape: a longer run of it belongs to the same credential. `open`: its length varies anyway. */
export function tailOf(parts: readonly Part[]): { source: string; open: boolean } | undefined {
  const last = flatten(parts).at(-1);
  if (last?.type !== "run" || last.negated || last.max < 8) return undefined;
  return { source: classSource(last.chars), open: last.min !== last.max };
}

/** The longest text the shape takes. */
export function pickLongest(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => {
    if (part.type === "text") return sum + part.text.length;
    if (part.type === "run") return sum + part.max;
    if (part.type === "secret") return sum + pickLongest(part.parts);
    return sum + Math.max(...part.options.map(pickLongest));
  }, 0);
}

/** Whether some run of the shape takes the character. */
export function takes(parts: readonly Part[], char: string): boolean {
  return parts.some((part) => {
    if (part.type === "run") return new RegExp(classSource(part.chars, part.negated)).test(char);
    if (part.type === "secret") return takes(part.parts, char);
    return part.type === "choice" && part.options.some((option) => takes(option, char));
  });
}

function flatten(parts: readonly Part[]): Part[] {
  return parts.flatMap((part) => (part.type === "secret" ? flatten(part.parts) : [part]));
}

function toLiterals(part: Part): string[] {
  if (part.type === "text") return [part.text];
  if (part.type !== "choice" || part.optional) return [];
  const options = part.options.map((option) => {
    const head = flatten(option)[0];
    return head?.type === "text" ? head.text : "";
  });
  return options.includes("") ? [] : options;
}

function widthOf(part: Part): number | undefined {
  if (part.type === "text") return part.text.length;
  if (part.type === "run") return part.min === part.max ? part.min : undefined;
  if (part.type === "secret" || part.optional) return undefined;
  const widths = part.options.map((option) =>
    option.reduce((sum: number, one) => sum + (widthOf(one) ?? Number.NaN), 0),
  );
  return widths.every((width) => width === widths[0]) ? widths[0] : undefined;
}

function shortest(anchors: readonly Anchor[]): number {
  return anchors.length === 0 ? 0 : Math.min(...anchors.map((anchor) => anchor.text.length));
}
