/** What users and assistants say: corrections, and decisions with their reasons. In plain English wording; a sentence in doubt is neither. */
import { clipLine, plainLine } from "./text.ts";

/** Characters of a prompt that are read: a correction comes first. */
const PROMPT = 600;
/** Characters of an answer that are read, at its start and at its end. */
const ANSWER = 4_000;
/** A longer sentence is a list or code. */
const SENTENCE = 400;

const POLITE =
  /^(?:no (?:problem|worries|need|rush|idea|thanks|thank you|more questions)|don['’]?t worry|do not worry|nope,? (?:that['’]s|looks?) (?:fine|good|all)|no,? (?:that['’]s|it['’]s|looks?|all) (?:fine|good|ok|okay|right|great|perfect|all))\b/i;

/** Each of them begins a sentence. */
const OPENS =
  /^(?:(?:no|nope|nah|wrong|incorrect|stop)(?:[,.!:;]| [-–—] | (?:use|not|that|this|it|you|we|i|don['’]?t|do not|never)\b)|(?:please |and |but )?(?:don['’]?t|do not|never|stop|quit) \w+|(?:actually|instead),? (?:use|we|it|don['’]?t|do|put|keep|make|leave|run|call)\b|(?:revert|undo) (?:that|this|it|your|the (?:last|change|edit))\b|not (?:that|there|like that|what i)\b)/i;
/** Each of them is anywhere in a sentence. */
const SAYS =
  /\b(?:i (?:already |just |clearly )?(?:said|told you|meant|asked (?:you )?(?:for|to|not)|wanted)|(?:that|this|it)['’]?s? (?:is |was )?(?:wrong|incorrect|not (?:right|correct|what i)|still (?:wrong|broken))|not what i (?:asked|wanted|meant|said)|you (?:forgot|missed|ignored|broke|misunderstood|should(?:n['’]t| not) have|shouldn['’]t|keep \w+ing|were supposed to|weren['’]t supposed to)|we (?:don['’]?t|do not|never) use|as i said|like i said|again[,:] (?:don['’]?t|use|no))\b/i;
const USE =
  /\b(?:use|with|run|call|name it|named|want|be) [`"']?[\w@./-]+[`"']?,? (?:not|instead of|rather than) [`"']?[\w@./-]+/i;

/** The sentence of a prompt that corrects the assistant, with the one after it; empty: none does. Only the first 600 characters are read. */
export function findCorrection(prompt: string): string {
  const start = prompt.slice(0, PROMPT).trimStart();
  // Not typed: a command, a tag, a pasted block.
  if (/^[/<{[`]/.test(start)) return "";
  const sentences = toSentences(start);
  const at = sentences.findIndex((line, i) => isCorrection(line, i));
  if (at < 0) return "";
  return clipLine(sentences.slice(at, at + 2).join(" "));
}

function isCorrection(line: string, i: number): boolean {
  if (line.length > SENTENCE || line.endsWith("?") || POLITE.test(line)) return false;
  // What opens a later sentence ("Don't forget the tests.") is a part of the task.
  return (i === 0 && OPENS.test(line)) || SAYS.test(line) || (i === 0 && line.length < 160 && USE.test(line));
}

const DECIDES =
  /\b(?:decid(?:e|ed|ing|sion)|(?:i|we)(?:['’]ll| will|['’]m| am| are|['’]re) (?:us(?:e|ing)|keep(?:ing)?|go(?:ing)? with|stick(?:ing)? (?:with|to)|switch(?:ing)? to|add(?:ing)?|mov(?:e|ing)|put(?:ting)?|mak(?:e|ing)|stor(?:e|ing)|pin(?:ning)?)|let['’]s (?:use|keep|go with|stick|switch|drop|avoid|put|store|make)|go(?:ing)? with|cho(?:se|ose|osing|sen)|opt(?:ed|ing)? for|pick(?:ed|ing)|switch(?:ed)? (?:to|from)|settled on|instead of|rather than|prefer(?:red)?|kept|replaced|dropped)\b/i;
const REASON =
  /\b(?:because|since|so that|so (?:the|we|it|a|that|both|each|no)\b|to avoid|to keep|to prevent|to make sure|due to|otherwise|in order to|the reason|as (?:it|the|that|this|we)\b|which (?:means|avoids|keeps|would)|without (?:it|that|which))\b/i;
/** A sentence that begins so gives the reason of the one before. */
const REASON_NEXT =
  /^(?:because|that way|this (?:way|avoids|keeps|means|prevents|lets)|otherwise|the reason|reason:|it avoids|so that)\b/i;

/** The first sentence of a text that decides something and gives a reason; empty: none does. Of a long text start and end are read. */
export function findDecision(text: string): string {
  const part = text.length <= 2 * ANSWER ? text : `${text.slice(0, ANSWER)}\n\n${text.slice(-ANSWER)}`;
  if (!DECIDES.test(part)) return "";
  const sentences = toSentences(part);
  for (const [i, line] of sentences.entries()) {
    if (line.length > SENTENCE || /[?:]$/.test(line) || !DECIDES.test(line)) continue;
    const next = sentences[i + 1] ?? "";
    if (REASON.test(line)) return clipLine(line);
    if (REASON_NEXT.test(next) && next.length <= SENTENCE) return clipLine(`${line} ${next}`);
  }
  return "";
}

/** Sentences and list items as plain lines. Blocks of code are left out. */
function toSentences(text: string): string[] {
  return text
    .replace(/```[\s\S]*?(?:```|$)/g, "\n")
    .split(/\n+|(?<=[.!?])\s+(?=[\p{Lu}`"'(*])/u)
    .map((line) =>
      plainLine(line)
        .replace(/^(?:[-*+>#]+|\d+[.)])\s+/, "")
        .replace(/\*\*/g, ""),
    )
    .filter((line) => line.length > 2);
}
