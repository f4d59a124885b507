/** The table of usage by session, written row by row: there may be a hundred thousand of them, and none is held. */
import { Slices, sortInSlices } from "sessarc";
import { Adder, type Place } from "./add.ts";
import type { DayRange, Zone } from "./buckets.ts";
import { type Choice, endOf, headOf, toRow, type UsageReport, type UsageRow } from "./report.ts";
import { Sum } from "./sums.ts";
import { type Prices, type Tally, totalOf } from "./tally.ts";

export interface SessionRows {
  /** All but the rows. */
  report: Omit<UsageReport, "rows">;
  /** The dearest first; each is made anew. */
  rows(): Generator<UsageRow>;
}

/** A row to come. */
interface Ranked {
  place: Place;
  id: string;
  microdollars: number;
  tokens: number;
}

/** About 2 µs a session, and as much again for each row. */
export async function sessionRows(
  { blocks, accept }: Choice,
  zone: Zone,
  range: DayRange,
  prices: Prices,
): Promise<SessionRows> {
  const adder = new Adder(blocks, zone, range, prices);
  const ranked: Ranked[] = [];
  await adder.each(accept, (place) => {
    const tally = rowOf(adder, place);
    if (!tally) return;
    const { id } = blocks.session(place.n, place.i);
    ranked.push({ place, id, microdollars: tally.cost.microdollars, tokens: totalOf(tally.tokens) });
  });
  const order = await sortInSlices(
    ranked,
    (a, b) => b.microdollars - a.microdollars || b.tokens - a.tokens || (a.id < b.id ? -1 : 1),
  );
  const totals = adder.keys.tally(adder.totals);
  return {
    report: { ...headOf("session", zone, range), ...endOf(prices, totals, adder.evidence) },
    *rows() {
      // What it adds up is nobody's.
      const again = new Adder(blocks, zone, range, prices);
      for (const { place, id } of order) {
        const tally = rowOf(again, place);
        if (tally) yield toRow("session", id, blocks.session(place.n, place.i).label, tally);
      }
    },
  };
}

function rowOf(adder: Adder, place: Place): Tally | undefined {
  const sum = new Sum();
  if (!adder.add(place, { of: () => sum })) return undefined;
  adder.totals.addTokens(sum);
  return adder.keys.tally(sum);
}

/** Characters of JSON handed over at once. */
const TOGETHER = 1 << 16;

/** The report as JSON, in pieces and slices. */
export async function* writeRows({ report, rows }: SessionRows): AsyncGenerator<string> {
  const { by, tz, range, ...end } = report;
  let text = `${JSON.stringify({ by, tz, range }).slice(0, -1)},"rows":[`;
  let first = true;
  const slices = new Slices();
  for (const row of rows()) {
    text += first ? JSON.stringify(row) : `,${JSON.stringify(row)}`;
    first = false;
    if (text.length < TOGETHER) continue;
    yield text;
    text = "";
    if (slices.due) await slices.turn();
  }
  yield `${text}],${JSON.stringify(end).slice(1)}`;
}
