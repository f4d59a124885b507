/** Some hundred sessions as wholes, in columns. */
import type { UsageEvidence } from "sessarc";
import type { Edges } from "./buckets.ts";
import type { CubeSession, SessionKind } from "./cube-session.ts";
import { FIELDS } from "./packed.ts";
import { at } from "./tally.ts";

const EVIDENCE = 4;
const OUTPUT = FIELDS.indexOf("output");

/** Whole numbers; four bytes each where that is enough. */
type Numbers = Uint32Array | Float64Array;

/** What sessions have in common. */
export interface Origin {
  readonly kind: SessionKind;
  readonly tool: string;
  readonly project: string;
}

const origins: Origin[] = [];
const originNumbers = new Map<string, number>();

/** The same origin has the same number as long as the process lives. */
function originOf({ kind, tool, project }: Origin): number {
  const key = `${kind}\0${tool}\0${project}`;
  let number = originNumbers.get(key);
  if (number === undefined) {
    number = origins.push({ kind, tool, project }) - 1;
    originNumbers.set(key, number);
  }
  return number;
}
export const originAt = (number: number): Origin => origins[number] as Origin;

/**
 * The blocks from `start` to before `end`, and the first and last quarter-hour of their sessions; without any the first is the later one.
 * `parts`: the runs it is made of; a block has none.
 */
export interface Run {
  readonly start: number;
  readonly end: number;
  readonly first: number;
  readonly last: number;
  readonly parts: readonly Run[];
}
/** All that the sessions of a run have lies between the edges. */
export const liesIn = ({ first, last }: Run, { from, to }: Edges): boolean => first >= from && last < to;
/** Nothing of it does. */
export const liesOutside = ({ first, last }: Run, { fromMaybe, toMaybe }: Edges): boolean =>
  last < fromMaybe || first >= toMaybe;

/** Sessions of one list; `i` is a session's place among them. */
export class Block {
  readonly run: Run;
  readonly length: number;
  /** First and last quarter-hour; of a session without any the first is the later one. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  /** Number for `originAt`. */
  readonly origin: Uint32Array;
  /** 1: counts with another session, or another one with it. */
  readonly related: Uint8Array;
  /** Messages, active ms, failed calls, three of each session. */
  readonly work: Numbers;
  /** Four of each session. */
  readonly #evidence: Numbers;
  /** Where a session's tokens begin in `models`; they end where the next one's begin. */
  readonly starts: Uint32Array;
  /** Numbers of models, for `nameOf`. */
  readonly models: Uint32Array;
  /** Tokens of each of `models`, in the order of `FIELDS`. */
  readonly tokens: Numbers;
  #byOrigin: ReadonlyMap<number, readonly number[]> | undefined;

  constructor(n: number, sessions: readonly CubeSession[], heads: ReadonlySet<string>) {
    const { length } = sessions;
    this.length = length;
    this.first = new Float64Array(length);
    this.last = new Float64Array(length);
    this.origin = new Uint32Array(length);
    this.related = new Uint8Array(length);
    this.starts = new Uint32Array(length + 1);
    const work: number[] = [];
    const evidence: number[] = [];
    const models: number[] = [];
    const tokens: number[] = [];
    sessions.forEach((session, i) => {
      const { first, last, messages, activeMs, errors } = session.sum(models, tokens);
      this.first[i] = first;
      this.last[i] = last;
      this.origin[i] = originOf(session);
      this.related[i] = session.root !== session.id || heads.has(session.id) ? 1 : 0;
      work.push(messages, activeMs, errors);
      const own = session.evidence;
      evidence.push(own?.records ?? 0, own?.requests ?? 0, own?.duplicatesFolded ?? 0, own?.inheritedExcluded ?? 0);
      this.starts[i + 1] = models.length;
    });
    const first = this.first.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const last = this.last.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    this.run = { start: n, end: n + 1, first, last, parts: [] };
    this.work = small(work);
    this.#evidence = small(evidence);
    this.models = Uint32Array.from(models);
    this.tokens = small(tokens);
  }

  /** Places of its sessions by what they have in common. */
  get byOrigin(): ReadonlyMap<number, readonly number[]> {
    if (!this.#byOrigin) {
      const places = new Map<number, number[]>();
      for (let i = 0; i < this.length; i++) at(places, this.origin[i] as number, () => []).push(i);
      this.#byOrigin = places;
    }
    return this.#byOrigin;
  }
  /** Replies that the evidence of a session counts. */
  requests(i: number): number {
    return this.#evidence[i * EVIDENCE + 1] as number;
  }
  /** Tokens that went in, those of caches among them. */
  prompt(i: number): number {
    let sum = 0;
    for (let at = (this.starts[i] as number) * FIELDS.length; at < (this.starts[i + 1] as number) * FIELDS.length; at++)
      if (at % FIELDS.length !== OUTPUT) sum += this.tokens[at] as number;
    return sum;
  }
  addEvidence(i: number, sum: UsageEvidence): void {
    const at = i * EVIDENCE;
    sum.records += this.#evidence[at] as number;
    sum.requests += this.#evidence[at + 1] as number;
    sum.duplicatesFolded += this.#evidence[at + 2] as number;
    sum.inheritedExcluded += this.#evidence[at + 3] as number;
  }
  /** Adds the tokens of one of `models`. */
  addTokens(row: number, sums: Float64Array): void {
    const at = row * sums.length;
    for (let field = 0; field < sums.length; field++)
      sums[field] = (sums[field] as number) + (this.tokens[at + field] as number);
  }

  /** It has no quarter-hour. */
  isEmpty(i: number): boolean {
    return (this.first[i] as number) > (this.last[i] as number);
  }
  /** All of a session lies between the edges (true), nothing (false), or its quarter-hours must be asked (undefined). */
  isIn(i: number, edges: Edges): boolean | undefined {
    const [first, last] = [this.first[i] as number, this.last[i] as number];
    if (first > last || last < edges.fromMaybe || first >= edges.toMaybe) return false;
    return (first >= edges.from && last < edges.to) || undefined;
  }
}

function small(values: readonly number[]): Numbers {
  const short = Uint32Array.from(values);
  return short.every((value, i) => value === values[i]) ? short : Float64Array.from(values);
}
