/** Variables of a shell line, as far as their values are known. */

import type { Word } from "./words.ts";

export type Variables = Map<string, Pick<Word, "text" | "pattern">>;

/** No name of a file is longer; `A=$A$A` over and over would be. */
export const WORD_LIMIT = 4096;
const DECLARES = /^(?:export|declare|local|readonly|typeset)$/;

/** What may stand before it in a command. */
const OPENS = /^(?:then|do|else|if|elif|while|until|time)$/;
const NAMES_LIMIT = 50;

/** The name of `A=x`, alone or behind `export`; its value is remembered, where it is known. */
export function assigned({ text, open, pattern }: Word, before: readonly Word[], vars: Variables): string | undefined {
  const own = before.findIndex((word) => !OPENS.test(word.text));
  if (own >= 0 && !DECLARES.test(before[own]?.text ?? "")) return undefined;
  const [, name, value = ""] = /^([A-Za-z_]\w*)=(.*)$/s.exec(text) ?? [];
  if (name === undefined) return undefined;
  if (open || value.length > WORD_LIMIT) vars.delete(name);
  else vars.set(name, { text: value, pattern });
  return name;
}

/** With the variable whose value `${inner}` puts in; its length (`#A`) and whether there is one (`A:+x`) say nothing of it. */
export function namesIn(inner: string, before: string[] = []): string[] {
  const [, name] = /^!?([A-Za-z_]\w*)(?!\w|:?\+)/.exec(inner) ?? [];
  return name === undefined || before.length === NAMES_LIMIT ? before : [...before, name];
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
