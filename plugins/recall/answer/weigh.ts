/** Weighs the messages of a chunk against the terms of a question: what the message itself says, what is around it, the prompt it answers. */
import type { SessionEvent } from "sessarc";
import { mainArgument, toolCall } from "sessarc/adapter";
import { findTerms, type Hit } from "./match.ts";
import type { Term } from "./terms.ts";

/** Messages before and after that belong to what a message says. */
const AROUND = 5;
/** What a term is worth that is not in the message, but in its prompt, around it, or in the session's title. */
const IN_PROMPT = 0.85;
const IN_WINDOW = 0.75;
const IN_TITLE = 0.6;

/** A message, or a fact of it, as it may be shown. */
export interface Weighed {
  event: SessionEvent;
  /** Index of its prompt among the messages of the chunk; −1: the prompt is in an earlier one. */
  prompt: number;
  /** 0 to 1: of the terms' worth, what it says itself. */
  direct: number;
  /** 0 to 1: with its prompt, title and what is around it. */
  whole: number;
  /** Where the most telling term is in its text. */
  place: number;
}

export interface Weights {
  terms: readonly Term[];
  worth: readonly number[];
  /** Sum of `worth`. */
  all: number;
}

export const toWeights = (terms: readonly Term[], worth: readonly number[]): Weights => ({
  ...{ terms, worth },
  all: worth.reduce((sum, one) => sum + one, 0),
});

/** The text of a message that is searched and shown. */
export function textOf({ kind, text, tool_input }: SessionEvent): string {
  if (kind !== "tool_use") return text;
  const { command, paths, edits, content } = toolCall(tool_input);
  const parts = [command, ...paths, ...edits.map(({ after }) => after), content ?? ""];
  const said = parts.filter((part) => part !== "").join("\n");
  return said === "" ? mainArgument(tool_input) : said;
}

export const coverOf = (hits: readonly (Hit | undefined)[], { worth, all }: Weights): number =>
  all === 0 ? 0 : hits.reduce((sum, hit, term) => sum + (hit?.fit ?? 0) * (worth[term] ?? 0), 0) / all;

export function weighChunk(events: readonly SessionEvent[], title: string, weights: Weights): Weighed[] {
  const { terms, worth } = weights;
  const inTitle = findTerms(title, terms);
  const hits = events.map((event) => (event.kind === "note" ? [] : findTerms(textOf(event), terms)));
  let prompt = -1;
  return events.flatMap((event, i): Weighed[] => {
    if (event.kind === "user") prompt = i;
    if (event.kind === "note") return [];
    const own = hits[i] ?? [];
    let whole = 0;
    let place = 0;
    let most = 0;
    for (let term = 0; term < terms.length; term++) {
      const said = own[term]?.fit ?? 0;
      const value = said * (worth[term] ?? 0);
      if (value > most) {
        most = value;
        place = own[term]?.at ?? 0;
      }
      let around = 0;
      const from = Math.max(prompt, 0, i - AROUND);
      for (let near = from; near <= Math.min(events.length - 1, i + AROUND); near++) {
        // The next prompt begins something else.
        if (near > i && events[near]?.kind === "user") break;
        around = Math.max(around, hits[near]?.[term]?.fit ?? 0);
      }
      const best = Math.max(
        said,
        IN_WINDOW * around,
        IN_PROMPT * (prompt >= 0 ? (hits[prompt]?.[term]?.fit ?? 0) : 0),
        IN_TITLE * (inTitle[term]?.fit ?? 0),
      );
      whole += best * (worth[term] ?? 0);
    }
    const direct = coverOf(own, weights);
    return [{ event, prompt, direct, whole: weights.all === 0 ? 0 : whole / weights.all, place }];
  });
}
