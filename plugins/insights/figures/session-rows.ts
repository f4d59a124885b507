/** The table of usage by session, written row by row: there may be a hundred thousand of them, and none is held. */
import { Slices, sortInSlices } from "sessarc";
import type { Prices } from "../prices/pricing.ts";
import { Adder, type Place } from "./add.ts";
import type { DayRange, Zone } from "./buckets.ts";
import { type Choice, endOf, headOf, type UsageReport } from "./report.ts";
import { costOf, RowWriter } from "./row-json.ts";
import { PriceKeys, Sum } from "./sums.ts";

export interface SessionRows {
  /** All but the rows. */
  report: Omit<UsageReport, "rows">;
  /** What `rows` adds up by. */
  keys: PriceKeys;
  /** The dearest first, each made as it is asked for. */
  rows(): Generator<SessionRow>;
}
export interface SessionRow {
  id: string;
  label: string | null;
  sum: Sum;
}

/** A row to come. */
interface Ranked {
  place: Place;
  id: string;
  microdollars: number;
  tokens: number;
}

/** Puts the rows in order: some 1 µs a session. */
export async function sessionRows(
  { blocks, accept }: Choice,
  zone: Zone,
  range: DayRange,
  prices: Prices,
): Promise<SessionRows> {
  const keys = new PriceKeys(prices);
  const adder = new Adder(blocks, zone, range, keys);
  const ranked: Ranked[] = [];
  await adder.each(accept, (place) => {
    const sum = new Sum();
    if (!adder.add(place, { of: () => sum })) return;
    adder.totals.addTokens(sum);
    let [cost, tokens] = [0, 0];
    sum.tokens.forEach((own, number) => {
      cost += costOf(own, keys.priced(number).rates);
      for (const count of own) tokens += count;
    });
    ranked.push({ place, id: blocks.session(place.n, place.i).id, microdollars: Math.round(cost), tokens });
  });
  const order = await sortInSlices(
    ranked,
    (a, b) => b.microdollars - a.microdollars || b.tokens - a.tokens || (a.id < b.id ? -1 : 1),
  );
  return {
    report: { ...headOf("session", zone, range), ...endOf(prices, keys.tally(adder.totals), adder.evidence) },
    keys,
    *rows() {
      // What it adds up over all is nobody's.
      const again = new Adder(blocks, zone, range, keys);
      for (const { place, id } of order) {
        const sum = new Sum();
        again.add(place, { of: () => sum });
        yield { id, label: blocks.session(place.n, place.i).label, sum };
      }
    },
  };
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
  for (const { id, label, sum } of rows()) {
    text += separator + writer.write(id, label, sum);
    separator = ",";
    if (text.length < TOGETHER) continue;
    yield text;
    text = "";
    if (slices.due) await slices.turn();
  }
  yield `${text}],${JSON.stringify(end).slice(1)}`;
}
