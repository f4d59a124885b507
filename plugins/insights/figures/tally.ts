/** Sums of one row: sessions, messages, time and tokens. */
import { emptyUsage, type SessionUsage, type TokenUsage } from "sessarc";
import type { Cost, Prices } from "../prices/pricing.ts";
import { type DayRange, inRange, QUARTER_MS, type Zone } from "./buckets.ts";
import { type CubeSession, toUsage } from "./cube-session.ts";
import { nameOf } from "./names.ts";
import type { TokenSlot } from "./packed.ts";

/** What was done, whoever did it. */
export class Work {
  messages = 0;
  activeMs = 0;
  errors = 0;

  addWork(messages: number, activeMs: number, errors: number): void {
    this.messages += messages;
    this.activeMs += activeMs;
    this.errors += errors;
  }
}

/** How many sessions: those of one root are one. */
export class Heads {
  #alone = 0;
  #roots: Set<string> | undefined;

  get size(): number {
    return this.#alone + this.related;
  }
  /** Those of them that are told by name: of the same ones elsewhere it is known that they are the same. */
  get related(): number {
    return this.#roots?.size ?? 0;
  }
  /** `root`: the session that one counts with; undefined where nobody else does. */
  count(root: string | undefined): void {
    if (root === undefined) this.#alone++;
    else {
      this.#roots ??= new Set();
      this.#roots.add(root);
    }
  }
  /** Sessions that were counted elsewhere, and not here. */
  add(others: Heads): void {
    this.#alone += others.#alone;
    if (others.#roots) for (const root of others.#roots) this.count(root);
  }
}

export class Tally extends Work {
  readonly #roots = new Set<string>();
  /** The one added last: sessions come one after another. */
  #last: string | undefined;
  /** Sessions that were counted elsewhere. */
  #counted = 0;
  readonly usage: SessionUsage = {};
  /** Of models whose price changes with time: their tokens by the price at which they were used. */
  readonly #timed = new Map<string, SessionUsage>();
  readonly #prices: Prices;

  constructor(prices: Prices) {
    super();
    this.#prices = prices;
  }

  addSlot(session: CubeSession, ...work: [messages: number, activeMs: number, errors: number]): void {
    this.addRoot(session.root);
    this.addWork(...work);
  }
  addTokens(session: CubeSession, slot: TokenSlot): void {
    this.addRoot(session.root);
    this.addUsage(slot);
  }
  addRoot(root: string): void {
    if (root === this.#last) return;
    this.#last = root;
    this.#roots.add(root);
  }

  /** Of sessions whose work `addWork` adds. */
  addSessions(count: number): void {
    this.#counted += count;
  }
  addUsage({ quarter, model, tokens }: TokenSlot): void {
    this.addPriced(model, this.#prices.keyAt(model, quarter * QUARTER_MS), tokens);
  }
  /** `key`: that of `keyAt` for when they were used. */
  addPriced(model: string, key: string, tokens: TokenUsage): void {
    add(this.usage, model, tokens);
    if (key !== model)
      add(
        at(this.#timed, model, () => ({})),
        key,
        tokens,
      );
  }

  /** What these models cost when they were used. */
  costOf(models: readonly string[]): Cost {
    const priced: SessionUsage = {};
    for (const model of models) Object.assign(priced, this.#timed.get(model) ?? { [model]: this.usage[model] });
    return this.#prices.cost(priced);
  }
  get cost(): Cost {
    return this.costOf(Object.keys(this.usage));
  }

  /** Sub-agents count with the session that started them. */
  get sessions(): number {
    return this.#roots.size + this.#counted;
  }
  /** All models in one. */
  get tokens(): TokenUsage {
    return sumOf(this.usage);
  }
}

function add(usage: SessionUsage, key: string, tokens: TokenUsage): void {
  // Models are named by logs: `__proto__` was renamed when the tokens were counted.
  let sum = Object.hasOwn(usage, key) ? usage[key] : undefined;
  if (!sum) usage[key] = sum = emptyUsage();
  sum.input += tokens.input;
  sum.output += tokens.output;
  sum.cacheWrite5m += tokens.cacheWrite5m;
  sum.cacheWrite1h += tokens.cacheWrite1h;
  sum.cacheRead += tokens.cacheRead;
}

export function sumOf(usage: SessionUsage): TokenUsage {
  const sum = emptyUsage();
  for (const tokens of Object.values(usage)) {
    sum.input += tokens.input;
    sum.output += tokens.output;
    sum.cacheWrite5m += tokens.cacheWrite5m;
    sum.cacheWrite1h += tokens.cacheWrite1h;
    sum.cacheRead += tokens.cacheRead;
  }
  return sum;
}

export const totalOf = (t: TokenUsage): number => t.input + t.output + t.cacheWrite5m + t.cacheWrite1h + t.cacheRead;

/** Calls back for everything of a session that lies on days in the range. */
export function visit(
  session: CubeSession,
  zone: Zone,
  range: DayRange,
  onSlot: (day: number, quarter: number, messages: number, activeMs: number, errors: number) => void,
  onTokens: (slot: TokenSlot, day: number) => void,
): void {
  session.eachSlot((quarter, ...work) => {
    const day = zone.day(quarter);
    if (inRange(day, range)) onSlot(day, quarter, ...work);
  });
  session.eachTokens((quarter, model, tokens) => {
    const day = zone.day(quarter);
    if (inRange(day, range)) onTokens({ quarter, model: nameOf(model), tokens: toUsage(tokens) }, day);
  });
}

/** The value under `key`, made when it is not there. */
export function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
