/** A file as the calls of sessions change it in their order, with the call that wrote each line. */
import { toKey, toLines } from "../indexer/keys.ts";

/** What one call does to the file. */
export type Step =
  | { do: "write"; text: string }
  | { do: "edit"; edits: readonly { old: string; new: string; all?: boolean }[] }
  | { do: "insert"; line: number; text: string };

export interface Owned {
  text: string;
  /** Keys of the lines. */
  keys: readonly number[];
  /** Of each line, the call that wrote it; undefined for a line of the version that it began with. */
  owners: readonly (number | undefined)[];
}

/** Cells of the table that two versions are compared in. */
const CELLS = 1_000_000;

export function toOwned(text: string): Owned {
  const keys = toKeys(text);
  return { text, keys, owners: keys.map(() => undefined) };
}

/** Undefined where the steps do not fit the file. */
export function applySteps(before: Owned, steps: readonly Step[], write: number): Owned | undefined {
  let text: string | undefined = before.text;
  for (const step of steps) text = text === undefined ? undefined : applyStep(text, step);
  if (text === undefined) return undefined;
  const keys = toKeys(text);
  const owners = carry(before, keys, write);
  return owners && { text, keys, owners };
}

export const isSameText = (a: Pick<Owned, "keys">, b: Pick<Owned, "keys">): boolean =>
  a.keys.length === b.keys.length && a.keys.every((key, i) => key === b.keys[i]);

function applyStep(text: string, step: Step): string | undefined {
  if (step.do === "write") return step.text;
  if (step.do === "insert") {
    const lines = text.split("\n");
    return lines.toSpliced(step.line, 0, ...step.text.replace(/\n$/, "").split("\n")).join("\n");
  }
  let now = text;
  for (const { old, new: next, all } of step.edits) {
    const parts = old === "" ? [] : now.split(old);
    if (old === "" && now === "") now = next;
    else if (parts.length === 2 || (all && parts.length > 2)) now = parts.join(next);
    else return undefined;
  }
  return now;
}

function toKeys(text: string): number[] {
  const lines = toLines(text);
  if (lines.at(-1) === "") lines.pop();
  return lines.map(toKey);
}

/** Lines that were there before keep their owner; undefined for versions that are too large to compare. */
export function carry(before: Owned, keys: readonly number[], write: number): (number | undefined)[] | undefined {
  const old = before.keys;
  let start = 0;
  while (start < old.length && start < keys.length && old[start] === keys[start]) start++;
  let end = 0;
  while (end < old.length - start && end < keys.length - start && old.at(-1 - end) === keys.at(-1 - end)) end++;
  const [rows, columns] = [old.length - start - end, keys.length - start - end];
  if (rows * columns > CELLS) return undefined;
  const width = columns + 1;
  const common = new Uint32Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--)
    for (let j = columns - 1; j >= 0; j--)
      common[i * width + j] =
        old[start + i] === keys[start + j]
          ? (common[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(common[(i + 1) * width + j] ?? 0, common[i * width + j + 1] ?? 0);
  const owners: (number | undefined)[] = before.owners.slice(0, start);
  let i = 0;
  for (let j = 0; j < columns; ) {
    if (i < rows && old[start + i] === keys[start + j]) {
      owners.push(before.owners[start + i]);
      i++;
      j++;
    } else if (i < rows && (common[(i + 1) * width + j] ?? 0) >= (common[i * width + j + 1] ?? 0)) i++;
    else {
      owners.push(write);
      j++;
    }
  }
  return [...owners, ...before.owners.slice(old.length - end)];
}
