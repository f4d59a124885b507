/** What a user asks for in a prompt: sentences that say how to work, with what is wanted and what is not. */
import { classOf, STOP, toStem, wordsOf } from "./words.ts";

/** A sentence of a prompt that may be a correction. */
export interface Claim {
  /** As it was typed, without what leads to it (`no,`, `I told you:`). */
  text: string;
  /** What is wanted, and what is not. */
  wanted: ReadonlySet<string>;
  unwanted: ReadonlySet<string>;
  /** What is not to be done with the unwanted. */
  verb: string | undefined;
  /** It has the form of a standing wish (`never`, `don't`, `X instead of Y`, …); others only support these. */
  isStanding: boolean;
}

const LONGEST_PROMPT = 1_500;
const LONGEST = 160;
const MOST = 12;

/** The claims of a prompt. `isFirst`: nothing was said before it in the session, so a plain order is its task. */
export function readClaims(prompt: string, isFirst: boolean): Claim[] {
  const text = typed(prompt);
  if (text.length > LONGEST_PROMPT) return [];
  const claims: Claim[] = [];
  let isCorrection = false;
  for (const sentence of toSentences(text)) {
    const { rest, refuses } = withoutLead(sentence);
    const corrects: boolean = refuses || isCorrection;
    isCorrection = corrects && rest === "";
    const claim = rest === "" || rest.length > LONGEST ? undefined : toClaim(rest, corrects, isFirst);
    if (claim && claims.length < MOST) claims.push(claim);
  }
  return claims;
}

/** Without what was pasted: code, quoted lines and texts, elements. */
const typed = (prompt: string) =>
  prompt
    .replaceAll(/```[\s\S]*?(?:```|$)/g, "\n")
    .replaceAll(/^\s*>.*$/gm, "\n")
    .replaceAll(/<([a-z][\w-]*)\b[^>]*>[\s\S]*?<\/\1>/gi, "\n")
    .replaceAll(/["“„«][^"“”„«»\n]*\s[^"“”„«»\n]*["”“»]/g, "\n");

const toSentences = (text: string): string[] =>
  text
    .split(/(?<=[?？])\s*|[.!]+(?=\s|$)|[。！；;\n]+|:\s+|\s+-\s+/u)
    .map((one) => one.trim())
    .filter((one) => one !== "" && !/[?？]$/.test(one) && !/https?:\/\//.test(one));

/** What is said before the correction itself. `refuses`: a no. */
const LEAD =
  /^(?:(no|nope|nein|non|wrong|nooo*)\s*(?:[,:!.…]+|$|\s(?=(?:that|it|the|this|i|you|we|don't|do|use|not|please|never|always|wait|they|there|keep|take)\b))|(?:again|and|but|so|also|please|bitte|hey|ok|okay|wait|actually|hm+|well|remember|look|hands off)\b[,:!\s]*(?:to\b|that\b)?|i (?:already )?(?:said|told you|meant)(?: it| that| this)?(?: before| already| again)?\b[,:!\s]*|as i said\b[,\s]*|you forgot (?:it|that|this)?\s*(?:again)?[,:!\s]*)/i;

function withoutLead(sentence: string): { rest: string; refuses: boolean } {
  let rest = sentence.replace(/\u2019/g, "'");
  let refuses = false;
  for (let found = LEAD.exec(rest); found && found[0] !== ""; found = LEAD.exec(rest)) {
    refuses ||= found[1] !== undefined || /^(?:i |as i|you forgot)/i.test(found[0]);
    rest = rest.slice(found[0].length).trim();
  }
  return { rest: rest.replace(/[\s,!.…]*(?:\bplease|\bbitte)?[\s,!.…]*$/i, ""), refuses };
}

/** Of this moment alone, or about what the product does. */
const MOMENT =
  /\b(?:yet|for now|for the moment|for a moment|this time|today|tonight|right now|until|just for|temporarily|in this (?:branch|pr|commit|file|case|test|function)|vorerst|erst mal|heute|jetzt)\b|暂时|先不|今は/i;
const REPORT =
  /\b(?:isn't|aren't|doesn't|didn't|won't|wasn't|can't|cannot|couldn't|is not|are not|does not|did not|is still|still (?:not|no)|but it is|shouldn't be)\b|^(?:i|it|they|the|users?|he|she|that|this|export|there)\s+(?:\w+\s+)?(?:never|don't|do not)\b|^never mind|^(?:i|we|users?) (?:don't|do not) (?:see|get|know|have|find|understand|think|care|like|remember)\b|^don't (?:worry|know|bother|mind)\b|^no (?:need|problem|worries|idea|thanks|rush|hurry|longer)\b/i;

const SUBJECT =
  /^(?:you|we|one|wir|du)\s+(?=(?:must|should|have|need|never|always|don't|do not|use|write|prefer|only|can)\b)/i;
const REFUSAL =
  /^(?:(?:must|should|can|may) (?:not|never)|do not|don't|dont|never|stop|avoid|no more|no|not|nicht|keine?[nmr]?|nie(?:mals)?|ne|jamais|nunca|不要|别|不许|禁止|请勿|请不要)(?!\p{Script=Latin})(?![\p{L}\p{N}-]*[,:])\s*(?:ever\s+)?/iu;
const MIDDLE_REFUSAL = /\b(?:keine[nmr]?|kein|niemals)\s+/i;
const DEMAND =
  /^(?:always|immer|toujours|siempre|must|should|have to|need to|make sure(?: to| you| that)?|be sure to|only|prefer|请始终|请总是|始终|总是|必须|务必|记住|请用|必ず)\s*/i;
const MIDDLE_DEMAND =
  /^(?!i\b|it\b|this\b|there\b)[\p{L}\s-]{3,40}\b(?:must|should) (?!not\b|n't)(?:be |have |use |go )/iu;
const PLAIN = /^(?:use|write|nimm|nutze|benutze|verwende|utilise|usa|用|请)\s*/i;
const CONTRAST =
  /\s*(?:,|，)?\s+(?:instead of|rather than|and not|but not|statt|anstatt|au lieu de|plutôt que|en vez de|en lugar de)\s+|(?<=^prefer\s.*)\s+over\s+|(?:,\s*|\s+)(?:not|nicht)\s+|ではなくて?、?|じゃなくて?、?/i;

function toClaim(text: string, corrects: boolean, isFirst: boolean): Claim | undefined {
  if (MOMENT.test(text) || REPORT.test(text)) return undefined;
  const wanted = new Set<string>();
  const unwanted = new Set<string>();
  let verb: string | undefined;
  let isStanding = false;
  let isDemanded = corrects;
  for (const part of text.split(/[,，、]\s*(?:but\s+|and\s+|sondern\s+)?/)) {
    const piece = part
      .trim()
      .replace(/^(?:please|bitte)\s+/i, "")
      .replace(SUBJECT, "");
    const refusal = REFUSAL.exec(piece) ?? (MIDDLE_REFUSAL.exec(piece) as RegExpExecArray | null);
    const demand = DEMAND.exec(piece);
    if (refusal) {
      const rest = piece.slice(refusal.index + refusal[0].length);
      const [first = ""] = wordsOf(rest);
      const isVerb = !/^(?:no|no more|not|avoid|nicht|kein\w*)\s*$/i.test(refusal[0]);
      if (isVerb) verb ??= classOf(first) ?? toStem(first);
      add(unwanted, rest);
      isStanding = true;
      isDemanded = true;
      continue;
    }
    const [want = "", ...others] = piece.split(CONTRAST);
    const isContrast = others.length > 0;
    const isOrder = PLAIN.test(piece);
    if (isContrast || demand || MIDDLE_DEMAND.test(piece)) isStanding = true;
    else if (isOrder && !isFirst) isStanding ||= SUBJECT.test(part.trim()) || corrects || /^use\b/i.test(piece);
    else if (!isDemanded && isFirst) continue;
    const [left, right] = /ではなく|じゃなく/.test(piece) ? [others.join(" "), want] : [want, others.join(" ")];
    add(wanted, demand ? left.slice(demand[0].length) : left);
    add(unwanted, right);
  }
  if (corrects) isStanding = true;
  for (const word of unwanted) wanted.delete(word);
  return wanted.size + unwanted.size === 0 ? undefined : { text, wanted, unwanted, verb, isStanding };
}

/** The words of a text that mean something; verbs that fit everything are not among them. */
function add(into: Set<string>, text: string): void {
  for (const word of wordsOf(text)) {
    if (STOP.has(word) || classOf(word) !== undefined) continue;
    const stem = toStem(word);
    if (stem !== "" && !STOP.has(stem)) into.add(stem);
  }
}
