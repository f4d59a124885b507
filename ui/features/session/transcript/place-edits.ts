/** Edits as changes of their whole file, which numbers their lines. */
import type { Edit } from "../tool-call.ts";

/** The text before and after each edit; undefined where a text is unknown, not there, or there more than once. `null`: the file is unknown. */
export function placeEdits(
  text: string | null,
  edits: readonly Edit[],
): { before: string; after: string }[] | undefined {
  const placed: { before: string; after: string }[] = [];
  let before = text;
  for (const edit of edits) {
    const after = applied(before, edit);
    if (after === undefined) return undefined;
    placed.push({ before: before ?? "", after });
    before = after;
  }
  return placed;
}

function applied(text: string | null, { before, after, all }: Edit): string | undefined {
  // It writes the whole file.
  if (before === "") return after;
  const at = text?.indexOf(before) ?? -1;
  if (text === null || at < 0) return undefined;
  if (all) return text.replaceAll(before, () => after);
  return text.includes(before, at + 1) ? undefined : text.slice(0, at) + after + text.slice(at + before.length);
}
