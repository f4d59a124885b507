/** Which message of a session wrote a hunk of a commit. Says nothing unless exactly one can have. */

import type { Message } from "../../../wire.ts";
import { compare } from "../../code/compare.ts";
import type { Hunk } from "../../code/diff-types.ts";
import { commandOf, type Edit, editsOf, patchOf } from "../tool-call.ts";

/** One call that changed a file: stretches of old text and what they became. */
export interface Write {
  seq: number;
  edits: readonly Edit[];
}

/** What a call changed in the file; `isFile` returns whether a path of a patch is that file. Undefined when its arguments do not say. */
export function toWrite(message: Message, isFile: (path: string) => boolean): Write | undefined {
  const command = commandOf(message);
  const patch = patchOf(message) ?? command?.slice(Math.max(0, command.indexOf("*** Begin Patch")));
  const edits = patch?.includes("*** Begin Patch") ? patchEdits(patch, isFile) : editsOf(message);
  return edits.length === 0 ? undefined : { seq: message.seq, edits };
}

/** Old and new text of each stretch of a patch that is about the file. */
function patchEdits(patch: string, isFile: (path: string) => boolean): { before: string; after: string }[] {
  const edits: { before: string; after: string }[] = [];
  let before: string[] = [];
  let after: string[] = [];
  let inside = false;
  const flush = () => {
    if (before.join("\n") !== after.join("\n")) edits.push({ before: before.join("\n"), after: after.join("\n") });
    before = [];
    after = [];
  };
  for (const line of patch.split("\n")) {
    const head = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/.exec(line)?.[1];
    if (head !== undefined || line.startsWith("@@") || line.startsWith("*** ")) {
      flush();
      if (head !== undefined) inside = isFile(head.trim());
    } else if (inside) {
      const text = line.slice(1);
      if (!line.startsWith("+")) before.push(text);
      if (!line.startsWith("-")) after.push(text);
    }
  }
  flush();
  return edits;
}

/** A bracket alone is written everywhere: fewer letters than this prove nothing. */
const ENOUGH = 8;
const weight = (text: string) => text.replace(/[^\p{L}\p{N}]/gu, "").length;

/** seq of the one write that holds all that the hunk added (or took away, when it added nothing); undefined when unsure. */
export function findWriter(hunk: Hunk, writes: readonly Write[]): number | undefined {
  const sign = hunk.lines.some((line) => line.sign === "+") ? "+" : "-";
  // Which side a blank line belongs to is the differ's choice.
  const blocks = toBlocks(hunk, sign)
    .map((block) => block.replace(/^\s*\n|\n\s*$/g, ""))
    .filter((block) => weight(block) > 0);
  if (weight(blocks.join("\n")) < ENOUGH) return undefined;
  const found = writes.filter((write) => wroteAll(write, blocks, sign) || turnsInto(write, hunk));
  return found.length === 1 ? found[0]?.seq : undefined;
}

/** Each stretch stands line by line in what one edit put in (took out), and is not there on its other side. */
function wroteAll({ edits }: Write, blocks: readonly string[], sign: "+" | "-"): boolean {
  return blocks.every((block) =>
    edits.some(({ before, after }) => {
      const [there, other] = sign === "+" ? [after, before] : [before, after];
      return holdsLines(there, block) && !holdsLines(other, block) && changes(before, after, block, sign);
    }),
  );
}

/** The stretch begins and ends with lines the edit itself changed, not with lines it only quoted. */
function changes(before: string, after: string, block: string, sign: "+" | "-"): boolean {
  if (before === "" || after === "") return true;
  const changed = new Set(
    (compare(before, after, { context: 0, timeout: 20 }) ?? []).flatMap((hunk) =>
      hunk.lines.filter((line) => line.sign === sign).map((line) => line.text),
    ),
  );
  return block.split("\n").every((line) => weight(line) === 0 || changed.has(line));
}

/** The edit, done to the lines the hunk took away, gives the lines it added: right where an edit is part of a line. */
function turnsInto({ edits }: Write, hunk: Hunk): boolean {
  const old = toBlocks(hunk, "-");
  const now = toBlocks(hunk, "+");
  if (old.length !== 1 || now.length !== 1) return false;
  let text = old[0] ?? "";
  let done = 0;
  for (const { before, after } of edits) {
    if (before === "" || !text.includes(before)) continue;
    text = text.replace(before, () => after);
    done++;
  }
  return done > 0 && text === now[0];
}

const holdsLines = (text: string, block: string) => `\n${text}\n`.includes(`\n${block}\n`);

/** Runs of lines with the sign. */
function toBlocks(hunk: Hunk, sign: "+" | "-"): string[] {
  const blocks: string[][] = [];
  let open = false;
  for (const line of hunk.lines) {
    if (line.sign === sign) {
      if (open) blocks.at(-1)?.push(line.text);
      else blocks.push([line.text]);
      open = true;
    } else if (line.sign === " " || sign === "+") open = false;
  }
  return blocks.map((lines) => lines.join("\n"));
}
