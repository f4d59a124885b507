/** How a command that worked differs from one that failed before it. */
import { isArgument, toHead } from "./shell.ts";

export interface Difference {
  removed: readonly string[];
  added: readonly string[];
  /** The program itself is another one, or is run by another one. */
  program: boolean;
}

/** Undefined where the two are the same command, or have nothing to do with each other. */
export function differ(failed: readonly string[], worked: readonly string[]): Difference | undefined {
  const common = longest(failed, worked, (a, b) => a === b);
  if (common.length === failed.length && common.length === worked.length) return undefined;
  const alike = longest(failed, worked, isNear).length;
  const isContained = common.length === failed.length;
  if (!isContained && alike / Math.max(failed.length, worked.length) < 0.5) return undefined;
  const removed = failed.filter((_, i) => !common.some(([at]) => at === i));
  const added = worked.filter((_, i) => !common.some(([, at]) => at === i));
  // An argument that is left out or is another one makes another question.
  if (added.length === 0 || removed.some(isArgument)) return isFolder(failed, worked, removed, added);
  return { removed, added, program: !common.some(([at, place]) => at === 0 && place === 0) };
}

/** The same command in another folder. */
function isFolder(
  failed: readonly string[],
  worked: readonly string[],
  removed: readonly string[],
  added: readonly string[],
): Difference | undefined {
  const isMoved = failed[0] === "cd" && worked[0] === "cd" && removed.length === 1 && added.length === 1;
  return isMoved && removed[0] === failed[1] && added[0] === worked[1] ? { removed, added, program: true } : undefined;
}

/** What makes two slips the same mistake. */
export function toKey(failed: readonly string[], { removed, added, program }: Difference): string {
  const place = removed.length > 0 && program ? "" : toHead(failed);
  return [place, removed.join(" "), added.join(" ")].join("\0");
}

/** `test` and `test:unit`. */
const isNear = (a: string, b: string) =>
  a === b ||
  (b.startsWith(a) && /^[:._-]/.test(b.slice(a.length))) ||
  (a.startsWith(b) && /^[:._-]/.test(a.slice(b.length)));

/** The longest common subsequence, as pairs of places. */
function longest(
  a: readonly string[],
  b: readonly string[],
  isSame: (a: string, b: string) => boolean,
): [number, number][] {
  const best = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0));
  const at = (i: number, j: number) => best[i]?.[j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      (best[i] as number[])[j] = isSame(a[i] ?? "", b[j] ?? "")
        ? at(i + 1, j + 1) + 1
        : Math.max(at(i + 1, j), at(i, j + 1));
  const pairs: [number, number][] = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (isSame(a[i] ?? "", b[j] ?? "")) pairs.push([i++, j++]);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return pairs;
}

/** Commands of one mistake as one: `…` where they have different words. Undefined where they differ in length. */
export function toPattern(commands: readonly (readonly string[])[]): string | undefined {
  const [first] = commands;
  if (!first || commands.some(({ length }) => length !== first.length)) return undefined;
  const words = first.map((word, i) => (commands.every((one) => one[i] === word) ? word : "…"));
  return (
    words
      .join(" ")
      .replaceAll(/(?: ?…)+$/g, "")
      .trim() || undefined
  );
}
