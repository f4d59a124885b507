/** One session's share of all figures. What can be counted stays packed; it is read from front to back. */
import type { UsageEvidence } from "sessarc";
import { type DayRange, inRange, type Zone } from "./buckets.ts";
import { nameOf, shared } from "./names.ts";
import { bytesOf, FIELDS, PARTS, type Packed, part, type TokenSlot } from "./packed.ts";

/** What happened in a session, and from when to when: quarter-hours. */
export interface Whole {
  /** Without any the first is the later one. */
  first: number;
  last: number;
  messages: number;
  activeMs: number;
  errors: number;
}

/** Begun by a person; by another session; going on from what another one said. */
export const KINDS = ["main", "subagent", "fork"] as const;
export type SessionKind = (typeof KINDS)[number];

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

/** `model`: its number. `tokens`, in the order of `FIELDS`, are others at the next call. */
type UseTokens = (quarter: number, model: number, tokens: Float64Array) => void;

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
  readonly #packed: Packed;

  constructor(head: Head, figures: Packed, root: string) {
    this.id = head.id;
    this.kind = head.kind;
    this.tool = shared(head.tool);
    this.project = shared(head.project);
    this.parent = head.parent;
    this.root = root;
    this.label = head.label;
    this.endedAt = head.endedAt;
    this.#packed = figures;
  }

  /** The same, counted with another session. */
  under(root: string): CubeSession {
    return new CubeSession(this, this.#packed, root);
  }

  /** In the order of time. */
  eachSlot(use: (quarter: number, messages: number, activeMs: number, errors: number) => void): void {
    const reader = part(this.#packed, PARTS.slots);
    for (let quarter = 0; reader.more; ) {
      quarter += reader.signed();
      use(quarter, reader.next(), reader.next(), reader.next());
    }
  }
  eachTokens(use: UseTokens): void {
    const reader = part(this.#packed, PARTS.tokens);
    const tokens = new Float64Array(FIELDS.length);
    for (let quarter = 0; reader.more; ) {
      quarter += reader.signed();
      const model = this.#number(reader.next());
      for (let field = 0; field < FIELDS.length; field++) tokens[field] = reader.next();
      use(quarter, model, tokens);
    }
  }
  eachKind(use: (kind: string, messages: number) => void): void {
    const reader = part(this.#packed, PARTS.kinds);
    while (reader.more) use(nameOf(this.#number(reader.next())), reader.next());
  }
  eachTool(use: (tool: string, calls: number, errors: number) => void): void {
    const reader = part(this.#packed, PARTS.tools);
    while (reader.more) use(nameOf(this.#number(reader.next())), reader.next(), reader.next());
  }
  get evidence(): UsageEvidence | null {
    const reader = part(this.#packed, PARTS.evidence);
    if (!reader.more) return null;
    const [records, requests, duplicatesFolded, inheritedExcluded] = [1, 2, 3, 4].map(() => reader.next());
    return { records, requests, duplicatesFolded, inheritedExcluded } as UsageEvidence;
  }

  /** It has a quarter-hour. */
  get hasAny(): boolean {
    return part(this.#packed, PARTS.slots).more || part(this.#packed, PARTS.tokens).more;
  }
  /** Quarter-hours from the first with messages to the last. */
  get length(): number {
    let first: number | undefined;
    let last = 0;
    this.eachSlot((quarter) => {
      first ??= quarter;
      last = quarter;
    });
    return first === undefined ? 0 : last - first;
  }
  /** The last quarter-hour with messages. */
  get lastSlot(): number | undefined {
    let last: number | undefined;
    this.eachSlot((quarter) => {
      last = quarter;
    });
    return last;
  }

  /** The session as a whole: its models are put into `models`, by number, and the tokens of each into `tokens`. */
  sum(models: number[], tokens: number[]): Whole {
    const whole: Whole = { first: Infinity, last: -Infinity, messages: 0, activeMs: 0, errors: 0 };
    const touch = (quarter: number) => {
      if (quarter < whole.first) whole.first = quarter;
      if (quarter > whole.last) whole.last = quarter;
    };
    this.eachSlot((quarter, messages, activeMs, errors) => {
      touch(quarter);
      whole.messages += messages;
      whole.activeMs += activeMs;
      whole.errors += errors;
    });
    const start = models.length;
    this.eachTokens((quarter, model, own) => {
      touch(quarter);
      let row = start;
      while (row < models.length && models[row] !== model) row++;
      if (row === models.length) models.push(model);
      for (let field = 0; field < own.length; field++) {
        const place = row * own.length + field;
        tokens[place] = (tokens[place] ?? 0) + (own[field] as number);
      }
    });
    return whole;
  }

  /** Something lies on days in the range. */
  isIn(zone: Zone, range: DayRange): boolean {
    let found = false;
    const look = (quarter: number) => {
      found ||= inRange(zone.day(quarter), range);
    };
    this.eachSlot(look);
    if (!found) this.eachTokens(look);
    return found;
  }
  activeIn(zone: Zone, range: DayRange): number {
    let sum = 0;
    this.eachSlot((quarter, _, activeMs) => {
      if (inRange(zone.day(quarter), range)) sum += activeMs;
    });
    return sum;
  }

  /** All that can be counted, as `packed` made it; numbers for names are those of this process. */
  get figures(): Uint8Array {
    return bytesOf(this.#packed);
  }

  #number(written: number): number {
    const { numbers } = this.#packed;
    return numbers === undefined ? written : (numbers[written] as number);
  }
}

/** Of numbers in the order of `FIELDS`, from `at` on. */
export const toUsage = (tokens: ArrayLike<number>, at = 0): TokenSlot["tokens"] => ({
  input: tokens[at] as number,
  output: tokens[at + 1] as number,
  cacheWrite5m: tokens[at + 2] as number,
  cacheWrite1h: tokens[at + 3] as number,
  cacheRead: tokens[at + 4] as number,
});
