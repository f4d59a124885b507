/** Variables of a shell line, as far as their values are known. */

import type { Word } from "./words.ts";

export type Variables = Map<string, Pick<Word, "text" | "pattern">>;

/** No name of a file is longer; `A=$A$A` over and over would be. */
export const WORD_LIMIT = 4096;
const DECLARES = /^(?:export|declare|local|readonly|typeset)$/;

/** Whether it is `A=x`, alone or behind `export`; then it is remembered. */
export function assigns({ text, open, pattern }: Word, before: readonly Word[], vars: Variables): boolean {
  if (before.length > 0 && !DECLARES.test(before[0]?.text ?? "")) return false;
  const [, name, value = ""] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) return false;
  if (open || value.length > WORD_LIMIT) vars.delete(name);
  else vars.set(name, { text: value, pattern });
  return true;
}

/** `for A in x y` → `{x,y}`. */
export function assignList([, name, , ...values]: readonly Word[], vars: Variables): void {
  if (!name) return;
  const [first] = values;
  const text = values.map((value) => value.text).join();
  const known = values.every((value) => !value.open && (values.length === 1 || !/[{},]/.test(value.text)));
  if (!first || !known || text.length > WORD_LIMIT) vars.delete(name.text);
  else if (values.length === 1) vars.set(name.text, { text, pattern: first.pattern });
  else vars.set(name.text, { text: `{${text}}`, pattern: true });
}
