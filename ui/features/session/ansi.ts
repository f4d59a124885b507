/** Escape codes of terminals: taken out of plain text, turned to colours by the highlighter's own reader of them. */

/** Colours and other CSI codes, titles and links (OSC), single shifts. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the codes
const CODES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
/** All control characters but line breaks and tabs: bells, backspaces. */
const OTHERS = /[^\P{Cc}\n\t]/gu;

export const hasAnsi = (text: string): boolean => text.includes("\u001b[");

/** What a terminal would show of a text: without codes, and of a line rewritten in place its last state. */
export const plain = (text: string): string =>
  /[^\P{Cc}\n\t]/u.test(text) ? lastStates(text).replace(CODES, "").replace(OTHERS, "") : text;

/** The same with its colours left in: the only codes that a page can show. */
export const colourCodes = (text: string): string =>
  lastStates(text)
    .replace(CODES, (code) => (/^.\[.*m$/.test(code) ? code : ""))
    .replace(OTHERS, (one) => (one === "\u001b" ? one : ""));

const lastStates = (text: string): string =>
  text
    .replace(/\r+\n/g, "\n")
    .replace(/[^\n]*\r(?=[^\n])/g, "")
    .replace(/\r/g, "");
