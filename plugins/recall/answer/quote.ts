/** Texts of logs in an answer: plain, on one line, in quotes, with nothing that a model could take for the end of the quote or for a turn. */
import { plainLine } from "../facts/text.ts";

/** Tags, and marks of turns of models' own templates. */
const TAG = /<(?=[|/!?\p{L}_])|(?<=[|/\p{L}\p{N}_"'\]])>/gu;
const TURN = /\b(system|assistant|user|human|developer|tool|instructions?)\s*[:：]/gi;

/** One line that begins no block, no tag and no turn. */
export function harmless(text: string): string {
  return plainLine(text)
    .replace(TAG, (sign) => (sign === "<" ? "‹" : "›"))
    .replace(/[`~]{3,}/g, "'''")
    .replace(/\[(\/?)(INST|SYS|system|assistant|user)\]/gi, "($1$2)")
    .replace(TURN, "$1 –")
    .replace(/(?:^|\s)(?:#{1,6}|-{3,}|={3,}|\*{3,})(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** In double quotes; those inside become single ones. */
export const quote = (text: string): string => `"${text.replace(/["“”„‟＂]/g, "'")}"`;
