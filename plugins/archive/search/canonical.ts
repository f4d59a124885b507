/** Spellings of one text: composed (`é`), decomposed (`e` and an accent, as macOS names files), and in between. They are the same characters. */

/** A character of a word with the marks after it. */
export interface Letter {
  /** All ways to write it; one for most. */
  forms: readonly string[];
}

/** A syllable of Hangul, whole or in its parts; any other base with the marks after it; or marks alone. */
const LETTERS = /[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|[\uac00-\ud7a3][\u11a8-\u11ff]?|\P{M}\p{M}*|\p{M}+/gu;
/** Marks and final consonants that may compose with what precedes them. */
const RANGES: readonly [number, number][] = [
  [0x300, 0x36f],
  [0x653, 0x655],
  [0x93c, 0x93c],
  [0x3099, 0x309a],
  [0x1161, 0x1175],
  [0x11a8, 0x11c2],
];

/** The letters of a text in any spelling. */
export function toLetters(text: string): Letter[] {
  if (isPlain(text)) return Array.from(text, (char) => ({ forms: [char] }));
  return (text.match(LETTERS) ?? []).map((letter) => {
    const units = [...letter.normalize("NFD")];
    const forms = units.map(
      (_, i) =>
        units
          .slice(0, i + 1)
          .join("")
          .normalize("NFC") + units.slice(i + 1).join(""),
    );
    return { forms: [...new Set([letter, ...forms])] };
  });
}

/** Nothing of it can be written another way. */
const isPlain = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/** Stretches of a text that are written one way only. */
export function plainPieces(text: string): string[] {
  const pieces = [""];
  for (const { forms } of toLetters(text)) {
    if (forms.length === 1) pieces.push((pieces.pop() ?? "") + forms[0]);
    else pieces.push("");
  }
  return pieces.filter((piece) => piece !== "");
}

/** What must not follow `text`: marks that make another letter of its last one (`e` is not in `é`, however that is written). */
export function composingAfter(text: string): string {
  const [last = ""] = text.normalize("NFC").match(/.[\p{M}]*$/su) ?? [];
  const units = (value: string) => [...value.normalize("NFC")].length;
  let marks = "";
  for (const [first, end] of RANGES)
    for (let code = first; code <= end; code++) {
      const mark = String.fromCharCode(code);
      if (last !== "" && units(last + mark) === units(last)) marks += mark;
    }
  return marks;
}
