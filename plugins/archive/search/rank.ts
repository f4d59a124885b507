/**
 * The order "best match". A session is worth what its title and its best message say of the words; how many messages match adds a little.
 * A message is weighed where it is counted, so that no text is read twice, and only if its kind may be worth more than the best so far.
 */
import type { EventKind, Json } from "sessarc";
import type { Entry } from "./entry.ts";
import { fitOf, SIDE_BY_SIDE, type Wanted } from "./fit.ts";
import type { Searched } from "./searched.ts";

const TITLE = 10;
const KINDS: Readonly<Record<EventKind, number>> = {
  user: 8,
  assistant: 5,
  thinking: 3,
  tool_result: 2,
  tool_use: 1.5,
  // Instructions, tool lists, summaries: neither the person nor the assistant said them.
  note: 1,
};
/** A word that only the name of an argument has (`timeout_ms`). */
const ARGUMENT_NAME = 0.2;
/** Characters of a message up to which one hit says as much as in a short one. */
const SHORT = 500;
/** What many messages add at most, as a share. */
const MANY = 0.5;
/** What counts of a sub-agent: an assistant wrote its prompt, which is its title too. So both are worth less than an answer. */
const SUBAGENT = 0.25;
/** Sessions whose worth differs by less are as good: the newest of them is first. */
const STEP = 0.05;

/** What a message of this kind is worth at most. */
export const mostOf = (kind: EventKind, { phrase }: Wanted): number => KINDS[kind] * (phrase ? SIDE_BY_SIDE : 1);

/** What a message that matches is worth. About 1 µs for each word and hit. */
export function weigh({ event, input }: Searched, wanted: Wanted): number {
  const text = event.kind === "tool_use" ? `${event.text}\n${toValues(event.tool_input)}` : event.text;
  const long = Math.max(1, text.length / SHORT);
  const said = (KINDS[event.kind] * fitOf(text, wanted)) / (1 + Math.log10(long));
  return Math.max(said, input === "" ? 0 : ARGUMENT_NAME * fitOf(input, wanted));
}

/** What of a session matches: how many messages, and what the best of them is worth. */
export interface Found {
  messages: number;
  best: number;
}

/** A session's place by "best match": higher is better, equal is as good. */
export function rankOf(
  { title, isSubagent }: Pick<Entry, "title" | "isSubagent">,
  { messages, best }: Found,
  wanted: Wanted,
): number {
  if (wanted.words.length === 0) return 0;
  const worth = TITLE * fitOf(title, wanted) + best * (1 + Math.min(MANY, Math.log2(Math.max(1, messages)) / 10));
  return Math.round(Math.log(Math.max(isSubagent ? SUBAGENT * worth : worth, 0.01)) / STEP);
}

function toValues(value: Json | undefined): string {
  if (value === undefined) return "";
  if (value === null || typeof value !== "object") return `${value}\n`;
  let values = "";
  for (const one of Object.values(value)) values += toValues(one);
  return values;
}
