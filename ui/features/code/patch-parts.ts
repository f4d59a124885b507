/** A patch of Codex (`*** Begin Patch`) as two versions of each stretch, so that it is drawn as any other diff. */

export interface PatchPart {
  path: string;
  /** Stands before the first stretch of its file. */
  isFirst: boolean;
  /** A new file is whole, and its lines have its numbers. */
  isWhole: boolean;
  /** The patch deletes the file. */
  isDeleted: boolean;
  /** Where the patch moves the file. */
  movedTo: string | undefined;
  before: string;
  after: string;
}

const FILE = /^\*\*\* (Add|Update|Delete) File: (.+)$/;
const MOVE = /^\*\*\* Move to: (.+)$/;
const LEFT_OUT = /^\*\*\* (?:Begin Patch|End Patch|End of File)$/;

/** In order; undefined where the text has another form, or a line that does not belong to a patch. */
export function patchParts(text: string): PatchPart[] | undefined {
  if (!text.startsWith("*** Begin Patch")) return undefined;
  const parts: (Omit<PatchPart, "before" | "after"> & { before: string[]; after: string[] })[] = [];
  for (const line of text.replace(/\r?\n$/, "").split(/\r?\n/)) {
    const [, act, path] = FILE.exec(line) ?? [];
    const last = parts.at(-1);
    if (path !== undefined) {
      const about = { isWhole: act === "Add", isDeleted: act === "Delete", movedTo: undefined };
      parts.push({ path, isFirst: true, ...about, before: [], after: [] });
    } else if (LEFT_OUT.test(line)) continue;
    else if (!last) return undefined;
    else if (MOVE.test(line)) last.movedTo = MOVE.exec(line)?.[1];
    else if (line.startsWith("@@")) {
      if (last.before.length + last.after.length > 0)
        parts.push({ ...last, isFirst: false, isWhole: false, before: [], after: [] });
    } else if (line.startsWith("+")) last.after.push(line.slice(1));
    else if (line.startsWith("-")) last.before.push(line.slice(1));
    else if (line.startsWith(" ") || line === "") {
      last.before.push(line.slice(1));
      last.after.push(line.slice(1));
    } else return undefined;
  }
  const whole = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");
  return parts.map((part) => ({ ...part, before: whole(part.before), after: whole(part.after) }));
}

/** Lines of a patch of another form; the two lines that name its files are neither. */
export const isAdded = (line: string): boolean => line.startsWith("+") && !line.startsWith("+++ ");
export const isRemoved = (line: string): boolean => line.startsWith("-") && !line.startsWith("--- ");
