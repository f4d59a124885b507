/** The table of usage by session, written row by row: there may be a hundred thousand of them, and none is held. */
import { Slices, sortInSlices } from "#internal";
import { type Prices, toMicrodollars } from "../prices/pricing.ts";
import { Adder, type Place } from "./add.ts";
import type { Block } from "./block.ts";
import type { DayRange, Zone } from "./buckets.ts";
import { type Choice, endOf, headOf, type UsageReport } from "./report.ts";
import { RowWriter, type SessionRow } from "./row-json.ts";
import { type Costs, PriceKeys, Sum } from "./sums.ts";

export interface SessionRows {
  /** All but the rows. */
  report: Omit<UsageReport, "rows">;
  /** What `rows` adds up by. */
  keys: PriceKeys;
  /** The dearest first, each made as it is asked for. */
  rows(): Generator<SessionRow>;
}
/** A row to come. */
interface Ranked extends Rank {
  place: Place;
  tokens: number;
}
interface Rank {
  /** What the order goes by first, the most in front. */
  microdollars: number;
}

/** Puts the rows in order: some 50 ns a session (150 where the range cuts its block), and 1 µs of those that are to be written. `limit`: the first so many, at most some thousand. */
export async function sessionRows(
  { blocks, accept }: Choice,
  zone: Zone,
  range: DayRange,
  prices: Prices,
  limit?: number,
): Promise<SessionRows> {
  const keys = new PriceKeys(prices);
  const adder = new Adder(blocks, zone, range, keys);
  const idOf = ({ place: { n, i } }: Ranked) => blocks.session(n, i).id;
  const first = new First<Ranked>(
    limit ?? Number.POSITIVE_INFINITY,
    (a, b) => b.microdollars - a.microdollars || b.tokens - a.tokens || (idOf(a) < idOf(b) ? -1 : 1),
  );
  /** Tokens of those that lie in the range as a whole. */
  const whole = new Sum();
  const ofWhole = () => whole;
  const putWhole = (n: number, block: Block, i: number, costs: Costs) => {
    const microdollars = costs.microdollars[i] as number;
    if (first.isBehind(microdollars)) first.count++;
    else first.add({ place: { n, block, i, whole: true }, microdollars, tokens: costs.tokens[i] as number });
  };
  await adder.each(
    accept,
    (place) => {
      const { n, block, i } = place;
      const costs = place.whole && keys.costsOf(block);
      if (costs && !Number.isNaN(costs.microdollars[i])) {
        adder.add(place, { of: ofWhole });
        putWhole(n, block, i, costs);
        return;
      }
      const sum = new Sum();
      if (!adder.add(place, { of: () => sum })) return;
      adder.totals.addTokens(sum);
      const { cost, tokens } = keys.costOfSum(sum);
      first.add({ place, microdollars: toMicrodollars(cost), tokens });
    },
    (run, accepts) => {
      // Those of very many sessions would be a long turn.
      if (run.parts.some(({ parts }) => parts.length > 0)) return false;
      const blocksOf: [number, Block, Costs][] = [];
      for (let n = run.start; n < run.end; n++) {
        const block = blocks.block(n);
        const costs = keys.costsOf(block);
        if (!costs.isSteady) return false;
        blocksOf.push([n, block, costs]);
      }
      if (!adder.addShares(run, accepts, { of: ofWhole })) return false;
      for (const [n, block, costs] of blocksOf)
        for (let i = 0; i < block.length; i++)
          if (!block.isEmpty(i) && accepts(block.origin[i] as number)) putWhole(n, block, i, costs);
      return true;
    },
  );
  adder.totals.addTokens(whole);
  const order = await first.inOrder();
  const totals = keys.tally(adder.totals);
  return {
    report: { ...headOf("session", zone, range), rowCount: first.count, ...endOf(prices, totals, adder.evidence) },
    keys,
    *rows() {
      // What it adds up over all is nobody's.
      const again = new Adder(blocks, zone, range, keys);
      for (const { place } of order) {
        const { id, label } = blocks.session(place.n, place.i);
        const sum = () => {
          const own = new Sum();
          again.add(place, { of: () => own });
          return own;
        };
        yield { place, id, label, sum };
      }
    },
  };
}

/** The first of many in an order that no two of them share a place in. Holds twice as many as are wanted. */
class First<T extends Rank> {
  count = 0;
  readonly #limit: number;
  readonly #order: (a: T, b: T) => number;
  readonly #list: T[] = [];
  /** Nothing behind it is wanted. */
  #last: T | undefined;

  constructor(limit: number, order: (a: T, b: T) => number) {
    this.#limit = limit;
    this.#order = order;
  }
  /** Whatever else is said of one that costs so much, it is not wanted; `count` it. */
  isBehind(microdollars: number): boolean {
    return this.#last !== undefined && microdollars < this.#last.microdollars;
  }
  add(one: T): void {
    this.count++;
    if (this.#last !== undefined && this.#order(one, this.#last) > 0) return;
    this.#list.push(one);
    if (this.#list.length < 2 * this.#limit) return;
    this.#list.sort(this.#order).length = this.#limit;
    this.#last = this.#list.at(-1);
  }
  async inOrder(): Promise<T[]> {
    return (await sortInSlices(this.#list, this.#order)).slice(0, this.#limit);
  }
}

/** Characters of JSON handed over at once. */
const TOGETHER = 1 << 16;

/** The report as JSON, in pieces and slices. */
export async function* writeRows({ report, keys, rows }: SessionRows): AsyncGenerator<string> {
  const writer = new RowWriter(keys);
  const { by, tz, range, ...end } = report;
  let text = `${JSON.stringify({ by, tz, range }).slice(0, -1)},"rows":[`;
  let separator = "";
  const slices = new Slices();
  for (const row of rows()) {
    text += separator + writer.write(row);
    separator = ",";
    if (text.length < TOGETHER) continue;
    yield text;
    text = "";
    if (slices.due) await slices.turn();
  }
  yield `${text}],${JSON.stringify(end).slice(1)}`;
}
