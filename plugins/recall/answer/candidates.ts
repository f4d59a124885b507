/** What may answer a question: messages and facts of the most promising chunks, weighed. */
import type { Kernel, SessionEvent } from "sessarc";
import { factsAmong, type StoredFact } from "../facts/facts.ts";
import type { EvidenceKind } from "./contract.ts";
import { findTerms } from "./match.ts";
import type { Asked, Term } from "./terms.ts";
import { coverOf, toWeights, type Weighed, type Weights, weighChunk } from "./weigh.ts";

/** Chunks that are read at most. */
const CHUNKS = 20;
/** Candidates after which a chunk that can be no better than the last of them ends the search. */
const ENOUGH = 12;
/** What a message of no fact is worth as evidence, by its kind. */
const KINDS: Readonly<Partial<Record<SessionEvent["kind"], number>>> = {
  assistant: 0.95,
  user: 0.9,
  tool_result: 0.7,
  tool_use: 0.75,
  thinking: 0.5,
};
const ERROR = 0.9;
/** What a fact is worth more, and one of a kind that was asked for. */
const FACT = 1.08;
const WANTED = 1.12;
/** A failure that something fixed says more. */
const FIXED = 1.04;
/** A share of the message's own words in what it is worth; the rest is what is around it. */
const OWN = 0.4;
/** What a word is worth of which it is not known how rare it is: that of one chunk in twelve. */
const UNKNOWN = Math.log(12);
/** A share of a word's worth that the chunks are ordered by where they may have it as it was asked. */
const EXACT = 0.5;
/** Messages between a fact and the place that is weighed for it. */
const NEAR = 4;

export interface Candidate {
  kind: EvidenceKind;
  session: string;
  projectId: string;
  sortAt: number;
  seq: number;
  event: SessionEvent;
  /** Its most telling word in the event's text. */
  place: number;
  fact: StoredFact | undefined;
  /** What was asked for, as far as it and its surroundings have it: 0 to 1. */
  whole: number;
  score: number;
  /** Identifies the prompt that it belongs to. */
  turn: string;
  /** Calls of its turn that came before its end, for what became of them. */
  edits: SessionEvent[];
}

export interface Found {
  candidates: Candidate[];
  weights: Weights;
}

/** What a question cost. */
export interface AskStats {
  /** Chunks of messages that were read; 20 at most, whatever the archive's size. */
  read: number;
  /** Chunks of the archive, or of its projects. */
  chunks: number;
  /** Rows of groups of letters that were read in files of columns. */
  rows: number;
  /** Sessions of which signatures were checked. */
  signatures: number;
}

export async function findCandidates(
  kernel: Kernel,
  asked: Asked,
  projects: ReadonlySet<string> | undefined,
  onEnd?: (stats: AskStats) => void,
): Promise<Found> {
  const worth: number[] = [];
  const exact = asked.terms.flatMap(({ exact: word, share }) => (word === undefined ? [] : [{ word, share }]));
  const wish = {
    terms: [...asked.terms.map(({ forms }) => forms), ...exact.map(({ word }) => [word])],
    projects,
    weigh(term: number, count: number | undefined, total: number) {
      const one = asked.terms[term];
      // Words as they were asked only order the chunks.
      if (!one) return EXACT * (exact[term - asked.terms.length]?.share ?? 0) * rarity(count, total);
      const rare = hasBlind(one) ? UNKNOWN : rarity(count, total);
      // A word that says little says no more for being rare.
      worth[term] = one.share * (one.share < 1 ? Math.min(rare, UNKNOWN) : rare);
      return worth[term] ?? 0;
    },
  };
  let weights = toWeights(asked.terms, []);
  const candidates: Candidate[] = [];
  let read = 0;
  const archive = kernel.inject("archive");
  const promising = archive.promising(wish, (stats) => onEnd?.({ ...stats, read }));
  for await (const { session, projectId, title, sortAt, events, most } of promising) {
    if (read === 0) weights = toWeights(asked.terms, worth);
    // Its title and other messages may add to what a chunk has; not more than half again.
    const last = candidates[ENOUGH - 1]?.whole ?? 0;
    if (read === CHUNKS || (most / (weights.all || 1)) * 1.1 < last) break;
    read++;
    const weighed = weighChunk(events, title, weights);
    const [first, end] = [events[0]?.seq ?? 0, events.at(-1)?.seq ?? 0];
    const { copied, facts } = await factsAmong(kernel, session, first, end);
    const base = { session, projectId, sortAt };
    for (const one of weighed) {
      if (one.event.seq < copied || one.direct === 0) continue;
      candidates.push({ ...base, ...toCandidate(one, events, session) });
    }
    for (const fact of facts) {
      const one = toFactCandidate(fact, weighed, events, weights, asked, session);
      if (one) candidates.push({ ...base, ...one });
    }
    candidates.sort(byScore).splice(400);
  }
  return { candidates, weights };
}

export const byScore = (a: Candidate, b: Candidate) =>
  b.score - a.score || b.sortAt - a.sortAt || (a.session < b.session ? -1 : a.session > b.session ? 1 : a.seq - b.seq);

/** Signatures know nothing of a form of two letters: every chunk may have it. */
const hasBlind = ({ forms }: Term) => forms.some((form) => form.length < 3);

/** What a word is worth that `count` of `total` chunks have: a word of one in a thousand ten times that of one in two. */
export const rarity = (count: number | undefined, total: number): number =>
  count === undefined ? UNKNOWN : Math.log(1 + (total - count + 0.5) / (Math.max(1, count) + 0.5));

type Own = Omit<Candidate, "session" | "projectId" | "sortAt">;

function toCandidate(one: Weighed, events: readonly SessionEvent[], session: string): Own {
  const { event, direct, whole, place, prompt } = one;
  const kind = event.is_error ? ERROR : (KINDS[event.kind] ?? 0);
  return {
    ...{ kind: KIND[event.kind] ?? "said", seq: event.seq, event, place, fact: undefined, whole },
    score: (OWN * direct + (1 - OWN) * whole) * kind,
    ...turnOf(events, prompt, event, session),
  };
}

const KIND: Readonly<Partial<Record<SessionEvent["kind"], EvidenceKind>>> = {
  user: "asked",
  assistant: "said",
  thinking: "said",
  tool_use: "ran",
  tool_result: "output",
};

function toFactCandidate(
  fact: StoredFact,
  weighed: readonly Weighed[],
  events: readonly SessionEvent[],
  weights: Weights,
  asked: Asked,
  session: string,
): Own | undefined {
  const at = weighed.find(({ event }) => event.seq === fact.seq);
  if (!at) return undefined;
  const text = [fact.text, fact.command, ...fact.files].join("\n");
  const own = coverOf(findTerms(text, weights.terms), weights);
  // Only its command would be shown, in which nothing is of what was asked: its message says more.
  if (own === 0 && fact.text === "") return undefined;
  const direct = Math.max(own, at.direct);
  // Its error or its fix is in the messages after it.
  const whole = weighed.reduce(
    (most, one) =>
      one.prompt === at.prompt && Math.abs(one.event.seq - fact.seq) <= NEAR ? Math.max(most, one.whole) : most,
    at.whole,
  );
  if (direct === 0 && whole < 0.5) return undefined;
  const wanted = asked.wants.has(fact.kind) ? WANTED : 1;
  const fixed = fact.kind === "failed" && fact.other !== null ? FIXED : 1;
  return {
    ...{ kind: fact.kind, seq: fact.seq, event: at.event, place: at.place, fact, whole },
    score: (OWN * direct + (1 - OWN) * whole) * FACT * wanted * fixed,
    ...turnOf(events, at.prompt, at.event, session),
  };
}

function turnOf(
  events: readonly SessionEvent[],
  prompt: number,
  { seq }: SessionEvent,
  session: string,
): Pick<Candidate, "turn" | "edits"> {
  const edits: SessionEvent[] = [];
  for (let i = prompt + 1; i < events.length; i++) {
    const event = events[i];
    if (!event || (event.kind === "user" && event.seq > seq)) break;
    if (event.kind === "tool_use") edits.push(event);
  }
  return { turn: `${session} ${events[prompt]?.seq ?? -1}`, edits };
}
