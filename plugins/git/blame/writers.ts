/** Which call of which session a line comes from: the last one before the line's commit that wrote these words into this file. */
import type { BlamedFile } from "./lines.ts";
import { isHeavy, type Write } from "./writes.ts";

/** `line`: it wrote the whole line; `part`: a piece of it; `near`: the lines around it, in the same commit. */
export type LineEvidence = "line" | "part" | "near";

export interface Written {
  /** Place in the list of writes. */
  write: number;
  evidence: LineEvidence;
}

/** Stamps of commits have whole seconds. */
const SECOND = 1_000;

/** Of each line, where it is known. `writes` in order of time. Linear in lines times the writes that hold them. */
export function writersOf({ lines, commits }: BlamedFile, writes: readonly Write[]): (Written | undefined)[] {
  const holding = new Map<string, number[]>();
  for (const [i, write] of writes.entries())
    for (const line of write.lines) {
      const list = holding.get(line);
      if (list) list.push(i);
      else holding.set(line, [i]);
    }
  const inTime = (commit: string) => {
    const until = Date.parse(commits.get(commit)?.at ?? "") + SECOND;
    return (i: number) => (writes[i]?.at ?? 0) <= until;
  };
  const found = lines.map(({ text, commit }): Written | undefined => {
    if (!isHeavy(text)) return undefined;
    const fits = inTime(commit);
    const whole = holding.get(text)?.findLast(fits);
    if (whole !== undefined) return { write: whole, evidence: "line" };
    const part = writes.findLastIndex((one, i) => fits(i) && one.parts.some((piece) => text.includes(piece)));
    return part < 0 ? undefined : { write: part, evidence: "part" };
  });
  // Brackets and blank lines belong to what stands around them.
  const spread = (from: number, step: 1 | -1) => {
    for (let i = from; i >= 0 && i < lines.length; i += step) {
      const before = found[i - step];
      const same = lines[i - step]?.commit === lines[i]?.commit;
      if (!found[i] && before && same && !isHeavy(lines[i]?.text ?? "")) found[i] = { ...before, evidence: "near" };
    }
  };
  spread(1, 1);
  spread(lines.length - 2, -1);
  return found.map((one, i): Written | undefined => {
    const { text = "", commit = "" } = lines[i] ?? {};
    const alone = one || text === "" ? undefined : holding.get(text)?.findLast(inTime(commit));
    return alone === undefined ? one : { write: alone, evidence: "near" };
  });
}
