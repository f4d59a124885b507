/** A simple command while it is read. */
import type { Target } from "./shell-quotes.ts";
import { assigned, type Variables } from "./variables.ts";
import type { SimpleCommand, Word } from "./words.ts";

/** Puts a word where it belongs. */
export function take(command: SimpleCommand, word: Word, target: Target | "word", vars: Variables): void {
  if (target === "input") command.input.push(word);
  else if (target === "output") command.out = word;
  else if (target === "same") command.out = /^\d+$/.test(word.text) ? { ...word, text: `/dev/fd/${word.text}` } : word;
  else if (target === "herestring") fill(command, word);
  else if (target === "word") {
    const name = assigned(word, command.words, vars);
    if (name === undefined) command.words.push(word);
    else command.sets.push(Object.assign(word, { sets: name }));
  }
}

/** The text it gets on stdin. */
export function fill(command: SimpleCommand, word: Word): void {
  command.bodies.push(word.text);
  if (word.names) command.filled.push(word);
}

/** Whether it does anything. */
export const isCommand = ({ words, input, sets }: SimpleCommand): boolean =>
  words.length + input.length > 0 || sets.some(({ open }) => open);

/** Whether nothing of it was read yet. */
export const isUntouched = ({ words, input, sets, bodies, out, aside }: SimpleCommand): boolean =>
  words.length + input.length + sets.length + bodies.length === 0 && !out && !aside;

/** Whether it stands for a group, and sends elsewhere what those in it print: `(cat a) >&2`, `done | sh`. */
export const leadsGroup = ({ words, out, aside, pipe }: SimpleCommand): boolean =>
  (out !== undefined || aside === true || pipe !== undefined) &&
  (words.length === 0 || /^(?:done|fi|esac)$/.test(words[0]?.text ?? ""));

/** Whether only such words stand before a program. */
export const isBeforeProgram = (words: readonly Word[]): boolean =>
  words.every(({ text }) => /^(?:do|then|else|if|elif|while|until|time|sudo|env|exec|command|nohup)$/.test(text));

/** `(which cat)` → `cat`: the place of a program is its name. */
export const WHICH = /^\(\s*(?:which|command -v|type -[pP])\s+([\w./-]+)\s*\)/;
