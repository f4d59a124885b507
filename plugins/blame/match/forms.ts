/** Lines whose commit changed their form alone: quotes, blanks, a comma or semicolon at the end. */
import { bare, toKey } from "../indexer/keys.ts";

/** The forms of each line before the commit. */
export type Forms = Map<number, Set<string>>;

export function toForms(lines: Iterable<string>): Forms {
  const forms: Forms = new Map();
  for (const line of lines) {
    const key = toKey(line);
    const known = forms.get(key);
    if (known) known.add(bare(line));
    else forms.set(key, new Set([bare(line)]));
  }
  return forms;
}

/** The line was there before in another form, and not in this one. */
export function isReformed(line: string, before: Forms): boolean {
  if (before.size === 0) return false;
  const forms = before.get(toKey(line));
  return forms !== undefined && !forms.has(bare(line));
}
