/**
 * What each session is as a whole, in columns: blocks of some hundred sessions, made when somebody asks and again when one of theirs
 * changed. A view over many sessions reads their quarter-hours only where a range cuts a session in two.
 */
import type { UsageEvidence } from "sessarc";
import type { Edges } from "./buckets.ts";
import type { CubeSession, SessionKind } from "./cube-session.ts";
import { FIELDS } from "./packed.ts";

/** Sessions of a block. */
const TOGETHER = 512;
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

/** Some sessions of a list; `i` is a session's place among them. */
export class Block {
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
  readonly from: Uint32Array;
  /** Numbers of models, for `nameOf`. */
  readonly models: Uint32Array;
  /** Tokens of each of `models`, in the order of `FIELDS`. */
  readonly tokens: Numbers;
  /** Of all its sessions. */
  readonly #first: number;
  readonly #last: number;

  constructor(sessions: readonly CubeSession[], heads: ReadonlySet<string>) {
    const { length } = sessions;
    this.length = length;
    this.first = new Float64Array(length);
    this.last = new Float64Array(length);
    this.origin = new Uint32Array(length);
    this.related = new Uint8Array(length);
    this.from = new Uint32Array(length + 1);
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
      this.from[i + 1] = models.length;
    });
    this.#first = this.first.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    this.#last = this.last.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
    this.work = small(work);
    this.#evidence = small(evidence);
    this.models = Uint32Array.from(models);
    this.tokens = small(tokens);
  }

  /** Replies that the evidence of a session counts. */
  requests(i: number): number {
    return this.#evidence[i * EVIDENCE + 1] as number;
  }
  /** Tokens that went in, those of caches among them. */
  prompt(i: number): number {
    let sum = 0;
    for (let at = (this.from[i] as number) * FIELDS.length; at < (this.from[i + 1] as number) * FIELDS.length; at++)
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
  /** All that its sessions have lies between the edges. */
  liesIn({ from, to }: Edges): boolean {
    return this.#first >= from && this.#last < to;
  }
  /** All of a session lies between the edges (true), nothing (false), or its quarter-hours must be asked (undefined). */
  isIn(i: number, edges: Edges): boolean | undefined {
    const [first, last] = [this.first[i] as number, this.last[i] as number];
    if (first > last || last < edges.fromMaybe || first >= edges.toMaybe) return false;
    return (first >= edges.from && last < edges.to) || undefined;
  }
}

/** All sessions of a moment; it never changes. */
export class Blocks {
  readonly sessions: readonly CubeSession[];
  /** Ids of sessions that others count with. */
  readonly #heads: ReadonlySet<string>;
  readonly #made: (Block | undefined)[];

  private constructor(sessions: readonly CubeSession[], heads: ReadonlySet<string>, made: (Block | undefined)[]) {
    this.sessions = sessions;
    this.#heads = heads;
    this.#made = made;
    made.length = Math.ceil(sessions.length / TOGETHER);
  }

  static of(sessions: readonly CubeSession[]): Blocks {
    return new Blocks(sessions, headsOf(sessions), []);
  }

  /** After a change: what stands at `places` is another session now, or none. `related`: somebody may count with another one. */
  after(sessions: readonly CubeSession[], places: Iterable<number>, related: boolean): Blocks {
    const made = [...this.#made];
    for (const place of places) made[Math.floor(place / TOGETHER)] = undefined;
    if (!related) return new Blocks(sessions, this.#heads, made);
    const heads = headsOf(sessions);
    // Whoever has others with it now, or has none any more.
    const other = new Set([...heads].filter((id) => !this.#heads.has(id)));
    for (const id of this.#heads) if (!heads.has(id)) other.add(id);
    if (other.size > 0)
      sessions.forEach(({ id }, place) => {
        if (other.has(id)) made[Math.floor(place / TOGETHER)] = undefined;
      });
    return new Blocks(sessions, heads, made);
  }

  get length(): number {
    return this.#made.length;
  }
  /** Made now, if it is not there: some 0.3 ms. */
  block(n: number): Block {
    let block = this.#made[n];
    if (!block) {
      block = new Block(this.sessions.slice(n * TOGETHER, (n + 1) * TOGETHER), this.#heads);
      this.#made[n] = block;
    }
    return block;
  }
  /** The session that the one at `i` of the block `n` counts with; undefined where nobody else does. */
  rootOf(n: number, i: number): string | undefined {
    return this.block(n).related[i] ? this.session(n, i).root : undefined;
  }
  /** The session that stands at `i` of the block `n`. */
  session(n: number, i: number): CubeSession {
    return this.sessions[n * TOGETHER + i] as CubeSession;
  }
}

function headsOf(sessions: readonly CubeSession[]): ReadonlySet<string> {
  const heads = new Set<string>();
  for (const { id, root } of sessions) if (root !== id) heads.add(root);
  return heads;
}

function small(values: readonly number[]): Numbers {
  const short = Uint32Array.from(values);
  return short.every((value, i) => value === values[i]) ? short : Float64Array.from(values);
}
