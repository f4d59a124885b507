/** Text of receipts and verifications: for a terminal, and inside of Markdown. */
import { formatCount, oneLine, printable } from "sessarc/terminal";

/** On one line, without control characters. */
export const shown = (text: string) => oneLine(printable(text));

/** `1 note`, `2 notes`. */
export const plural = (count: number, noun: string) => `${formatCount(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Text that stays text in Markdown: no tag, no link, no mention. */
export const cell = (text: string): string =>
  shown(text)
    .slice(0, 160)
    .replace(/[\\`*_{}[\]<>()#+!|~&]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/@/g, "@\u2060");
