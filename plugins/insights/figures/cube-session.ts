/** One session's share of all figures: everything countable in one array of numbers, so that a hundred thousand of them stay small. */
import { emptyUsage, type TokenUsage, type UsageEvidence } from "sessarc";
import { type DayRange, inRange, type Zone } from "./buckets.ts";

/** One model's tokens of one quarter-hour. */
export interface TokenSlot {
  quarter: number;
  model: string;
  tokens: TokenUsage;
}

/** What happened in one quarter-hour: messages, active ms, failed calls. */
export interface Slot {
  quarter: number;
  m: number;
  a: number;
  e: number;
}

/** What happened in a session, and from when to when: quarter-hours. */
export interface Whole {
  /** Without any the first is the later one. */
  first: number;
  last: number;
  messages: number;
  activeMs: number;
  errors: number;
}

/** Of a session as a whole. */
export interface Counts {
  /** Messages by kind. */
  kinds: Record<string, number>;
  /** Calls and failures by tool name. */
  tools: Record<string, [calls: number, errors: number]>;
}

/** Begun by a person; by another session; going on from what another one said. */
export const KINDS = ["main", "subagent", "fork"] as const;
export type SessionKind = (typeof KINDS)[number];

/** What can be counted of a session, from `at` on in `data`: made by `packed`. Many sessions may share one array. */
export interface Packed {
  readonly data: Float64Array;
  readonly at: number;
}

export interface Head {
  kind: SessionKind;
  id: string;
  tool: string;
  project: string;
  parent: string | null;
  label: string | null;
  /** ms; null without times. */
  endedAt: number | null;
}

/** Names stand once for all sessions: models, tools and kinds are few. */
const names: string[] = [];
const numbers = new Map<string, number>();
function numberOf(name: string): number {
  let number = numbers.get(name);
  if (number === undefined) {
    number = names.push(name) - 1;
    numbers.set(name, number);
  }
  return number;
}
const nameOf = (number: number | undefined) => names[number ?? -1] ?? "unknown";

/** Names by the numbers that stand for them in this process. */
export const allNames = (): readonly string[] => names;
export { nameOf, numberOf };

/** The one string of those that are equal, where many sessions say the same. */
const shared = (text: string) => nameOf(numberOf(text));

// Before the figures: how many there are of each, and sums.
const SLOTS = 0;
const TOKEN_SLOTS = 1;
const KIND_COUNTS = 2;
const TOOL_COUNTS = 3;
const EVIDENCE = 4;
const ACTIVE = 5;
const PROMPT = 6;
const HEAD = 7;
const SLOT = 4;
const TOKENS = 7;
/** Kinds of tokens. */
export const FIELD_COUNT = 5;
const KIND = 2;
const TOOL = 3;

/** Slots in the order of time. */
export function packed(
  slots: readonly Slot[],
  usage: readonly TokenSlot[],
  evidence: UsageEvidence | null,
  counts: Counts,
): Packed {
  const kinds = Object.entries(counts.kinds);
  const tools = Object.entries(counts.tools);
  const data = new Float64Array(
    HEAD + slots.length * SLOT + usage.length * TOKENS + kinds.length * KIND + tools.length * TOOL + (evidence ? 4 : 0),
  );
  let at = HEAD;
  let [activeMs, prompt] = [0, 0];
  for (const { quarter, m, a, e } of slots) {
    activeMs += a;
    data[at++] = quarter;
    data[at++] = m;
    data[at++] = a;
    data[at++] = e;
  }
  for (const { quarter, model, tokens } of usage) {
    prompt += tokens.input + tokens.cacheWrite5m + tokens.cacheWrite1h + tokens.cacheRead;
    data[at++] = quarter;
    data[at++] = numberOf(model);
    data[at++] = tokens.input;
    data[at++] = tokens.output;
    data[at++] = tokens.cacheWrite5m;
    data[at++] = tokens.cacheWrite1h;
    data[at++] = tokens.cacheRead;
  }
  for (const [kind, count] of kinds) {
    data[at++] = numberOf(kind);
    data[at++] = count;
  }
  for (const [tool, [calls, errors]] of tools) {
    data[at++] = numberOf(tool);
    data[at++] = calls;
    data[at++] = errors;
  }
  if (evidence)
    data.set([evidence.records, evidence.requests, evidence.duplicatesFolded, evidence.inheritedExcluded], at);
  data.set([slots.length, usage.length, kinds.length, tools.length, evidence ? 1 : 0, activeMs, prompt]);
  return { data, at: 0 };
}

/** Puts other numbers in the place of those that stand for names, from `at` on; answers where the figures end. */
export function renumber(data: Float64Array, at: number, now: readonly number[]): number {
  const count = (i: number) => data[at + i] as number;
  let next = at + HEAD + count(SLOTS) * SLOT;
  const change = (items: number, width: number, column: number) => {
    for (let i = 0; i < items; i++, next += width)
      data[next + column] = now[data[next + column] as number] ?? numberOf("unknown");
  };
  change(count(TOKEN_SLOTS), TOKENS, 1);
  change(count(KIND_COUNTS), KIND, 0);
  change(count(TOOL_COUNTS), TOOL, 0);
  return next + count(EVIDENCE) * 4;
}

export class CubeSession {
  readonly id: string;
  readonly kind: SessionKind;
  readonly tool: string;
  readonly project: string;
  readonly parent: string | null;
  /** The session that counts for this one: its own id, or that of the session it was started from, through all levels. */
  readonly root: string;
  readonly label: string | null;
  readonly endedAt: number | null;
  readonly #data: Float64Array;
  readonly #at: number;

  constructor(head: Head, figures: Packed, root: string) {
    this.id = head.id;
    this.kind = head.kind;
    this.tool = shared(head.tool);
    this.project = shared(head.project);
    this.parent = head.parent;
    this.root = root;
    this.label = head.label;
    this.endedAt = head.endedAt;
    this.#data = figures.data;
    this.#at = figures.at;
  }

  /** The same, counted with another session. */
  under(root: string): CubeSession {
    return new CubeSession(this, { data: this.#data, at: this.#at }, root);
  }

  /** Number of quarter-hours, growing in time. */
  get slots(): number {
    return this.#data[this.#at + SLOTS] as number;
  }
  get tokenSlots(): number {
    return this.#data[this.#at + TOKEN_SLOTS] as number;
  }
  /** Of all quarter-hours. */
  get active(): number {
    return this.#data[this.#at + ACTIVE] as number;
  }
  get prompt(): number {
    return this.#data[this.#at + PROMPT] as number;
  }
  /** All of it, as `packed` made it. */
  get figures(): Float64Array {
    return this.#data.subarray(this.#at, this.#evidenceAt + (this.#data[this.#at + EVIDENCE] as number) * 4);
  }

  quarter(i: number): number {
    return this.#data[this.#at + HEAD + i * SLOT] as number;
  }
  messages(i: number): number {
    return this.#data[this.#at + HEAD + i * SLOT + 1] as number;
  }
  activeMs(i: number): number {
    return this.#data[this.#at + HEAD + i * SLOT + 2] as number;
  }
  errors(i: number): number {
    return this.#data[this.#at + HEAD + i * SLOT + 3] as number;
  }

  get #tokensAt(): number {
    return this.#at + HEAD + this.slots * SLOT;
  }
  tokenQuarter(i: number): number {
    return this.#data[this.#tokensAt + i * TOKENS] as number;
  }
  tokens(i: number): TokenSlot {
    const data = this.#data;
    const at = this.#tokensAt + i * TOKENS;
    const tokens = emptyUsage();
    tokens.input = data[at + 2] as number;
    tokens.output = data[at + 3] as number;
    tokens.cacheWrite5m = data[at + 4] as number;
    tokens.cacheWrite1h = data[at + 5] as number;
    tokens.cacheRead = data[at + 6] as number;
    return { quarter: data[at] as number, model: nameOf(data[at + 1]), tokens };
  }

  /** Number of the model of a token slot; `nameOf` tells its name. */
  modelAt(i: number): number {
    return this.#data[this.#tokensAt + i * TOKENS + 1] as number;
  }
  /** Adds the tokens of a slot, in the order of `FIELDS`. Makes nothing: there are a million of them. */
  addTokens(i: number, sums: Float64Array): void {
    const at = this.#tokensAt + i * TOKENS + 2;
    for (let field = 0; field < sums.length; field++)
      sums[field] = (sums[field] as number) + (this.#data[at + field] as number);
  }

  /** The session as a whole: its models are put into `models`, by number, and the tokens of each into `tokens`. */
  sum(models: number[], tokens: number[]): Whole {
    const data = this.#data;
    const whole: Whole = { first: Infinity, last: -Infinity, messages: 0, activeMs: 0, errors: 0 };
    const touch = (quarter: number) => {
      if (quarter < whole.first) whole.first = quarter;
      if (quarter > whole.last) whole.last = quarter;
    };
    for (let i = 0; i < this.slots; i++) {
      touch(this.quarter(i));
      whole.messages += this.messages(i);
      whole.activeMs += this.activeMs(i);
      whole.errors += this.errors(i);
    }
    const start = models.length;
    for (let i = 0; i < this.tokenSlots; i++) {
      const at = this.#tokensAt + i * TOKENS;
      touch(data[at] as number);
      const model = data[at + 1] as number;
      let row = start;
      while (row < models.length && models[row] !== model) row++;
      if (row === models.length) models.push(model);
      for (let field = 0; field < FIELD_COUNT; field++) {
        const place = row * FIELD_COUNT + field;
        tokens[place] = (tokens[place] ?? 0) + (data[at + 2 + field] as number);
      }
    }
    return whole;
  }

  /** Something lies on days in the range. */
  isIn(zone: Zone, range: DayRange): boolean {
    for (let i = 0; i < this.slots; i++) if (inRange(zone.day(this.quarter(i)), range)) return true;
    for (let i = 0; i < this.tokenSlots; i++) if (inRange(zone.day(this.tokenQuarter(i)), range)) return true;
    return false;
  }

  activeIn(zone: Zone, range: DayRange): number {
    let sum = 0;
    for (let i = 0; i < this.slots; i++) if (inRange(zone.day(this.quarter(i)), range)) sum += this.activeMs(i);
    return sum;
  }

  get #kindsAt(): number {
    return this.#tokensAt + this.tokenSlots * TOKENS;
  }
  get #toolsAt(): number {
    return this.#kindsAt + (this.#data[this.#at + KIND_COUNTS] as number) * KIND;
  }
  get #evidenceAt(): number {
    return this.#toolsAt + (this.#data[this.#at + TOOL_COUNTS] as number) * TOOL;
  }
  eachKind(use: (kind: string, messages: number) => void): void {
    const end = this.#toolsAt;
    for (let at = this.#kindsAt; at < end; at += KIND) use(nameOf(this.#data[at]), this.#data[at + 1] as number);
  }
  eachTool(use: (tool: string, calls: number, errors: number) => void): void {
    const end = this.#evidenceAt;
    for (let at = this.#toolsAt; at < end; at += TOOL)
      use(nameOf(this.#data[at]), this.#data[at + 1] as number, this.#data[at + 2] as number);
  }

  /** Replies that `evidence` counts; 0 without. */
  get requests(): number {
    return this.evidence?.requests ?? 0;
  }
  get evidence(): UsageEvidence | null {
    if (this.#data[this.#at + EVIDENCE] === 0) return null;
    const at = this.#evidenceAt;
    const figure = (i: number) => this.#data[at + i] as number;
    return { records: figure(0), requests: figure(1), duplicatesFolded: figure(2), inheritedExcluded: figure(3) };
  }
}
