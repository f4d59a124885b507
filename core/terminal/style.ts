/** Colour and width of text on a terminal. */
import { stripVTControlCharacters } from "node:util";

export { printable } from "../utils/printable.ts";

/** Wraps text in colours; returns it as it is where the output takes none. */
export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  blue(text: string): string;
  /** For matches: bold and underlined, so that it shows without colour vision too. */
  mark(text: string): string;
}

const CODES: Record<keyof Style, readonly [string, string]> = {
  bold: ["1", "22"],
  dim: ["2", "22"],
  red: ["31", "39"],
  green: ["32", "39"],
  yellow: ["33", "39"],
  blue: ["34", "39"],
  mark: ["1;4", "22;24"],
};

/** With `colour` false every function returns its text unchanged. */
export function createStyle(colour: boolean): Style {
  const make = (name: keyof Style) => {
    const [on, off] = CODES[name];
    return (text: string) => (colour && text !== "" ? `\u001b[${on}m${text}\u001b[${off}m` : text);
  };
  return {
    bold: make("bold"),
    dim: make("dim"),
    red: make("red"),
    green: make("green"),
    yellow: make("yellow"),
    blue: make("blue"),
    mark: make("mark"),
  };
}

/** Whether to colour a stream: https://no-color.org, then FORCE_COLOR, then whether it is a terminal. */
export function wantsColour(env: Readonly<Record<string, string | undefined>>, isTTY: boolean): boolean {
  if (env.NO_COLOR !== undefined && env.NO_COLOR !== "") return false;
  if (env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== "0") return true;
  return isTTY && env.TERM !== "dumb";
}

const WIDE =
  /\p{Extended_Pictographic}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/u;
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]$/u;

/** Columns a text takes, without escape sequences; wide characters count two. */
export function widthOf(text: string): number {
  const plain = stripVTControlCharacters(text);
  let width = 0;
  for (const char of plain) width += ZERO.test(char) ? 0 : WIDE.test(char) ? 2 : 1;
  return width;
}

/** Plain text in lines of at most `columns`, broken at spaces; each line after the first begins with `indent`. A longer word keeps its line. */
export function wrapColumns(text: string, columns: number, indent = ""): string[] {
  const lines: string[] = [];
  let rest = text;
  while (widthOf(rest) > columns) {
    // The spaces that align the first words are no place to break.
    const start = rest.search(/\S/) + 1;
    const places = [...rest.matchAll(/ +(?=\S)/g)].filter(({ index }) => index >= start);
    const within = places.filter(({ index }) => widthOf(rest.slice(0, index)) <= columns);
    const place =
      within.findLast(({ index }) => index > indent.length) ?? places.find(({ index }) => index > indent.length);
    if (!place) break;
    lines.push(rest.slice(0, place.index));
    rest = indent + rest.slice(place.index + place[0].length);
  }
  return [...lines, rest];
}

/** Cuts plain text to `columns`, with an ellipsis when something was cut. */
export function fitColumns(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = "";
  let width = 0;
  for (const char of text) {
    width += widthOf(char);
    if (width > columns - 1) break;
    kept += char;
  }
  return `${kept}…`;
}
