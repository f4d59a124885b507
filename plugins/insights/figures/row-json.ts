/**
 * A session's row of the table of usage as JSON, written from its sums: a hundred thousand of them take a quarter of what objects would.
 * Rows in which a model was used at several prices or under several names are made the long way.
 */
import { modelName } from "../prices/names.ts";
import { dot, PRICED_AT, type Rates } from "../prices/pricing.ts";
import { toUsage } from "./cube-session.ts";
import { toRow } from "./report.ts";
import type { PriceKeys, Sum } from "./sums.ts";

/** What is the same of a model in every row. */
interface Frame {
  /** As the logs name it. */
  spelling: string;
  /** All spellings together. */
  name: string;
  /** What stands before its tokens in `usage` and in `models`. */
  inUsage: string;
  inModels: string;
  /** Its price never changes. */
  isSteady: boolean;
  rates: Rates | undefined;
}

/** Tokens of one model in one row. */
interface Part {
  frame: Frame;
  tokens: ArrayLike<number>;
  text: string;
  total: number;
  /** Not rounded. */
  cost: number;
  microdollars: number | null;
}

export class RowWriter {
  readonly #keys: PriceKeys;
  readonly #frames: Frame[] = [];

  constructor(keys: PriceKeys) {
    this.#keys = keys;
  }

  write(key: string, label: string | null, sum: Sum): string {
    const parts: Part[] = [];
    sum.tokens.forEach((tokens, number) => {
      parts.push(toPart(this.#frames[number] ?? this.#frame(number), tokens));
    });
    if (!isPlain(parts)) return JSON.stringify(toRow("session", key, label, this.#keys.tally(sum)));
    const all = [0, 0, 0, 0, 0];
    const unpriced: string[] = [];
    let usage = "";
    let cost = 0;
    for (const { frame, tokens, text, total, cost: own } of parts) {
      usage += usage ? `,${frame.inUsage}${text}` : frame.inUsage + text;
      for (let i = 0; i < all.length; i++) all[i] = (all[i] as number) + (tokens[i] as number);
      cost += own;
      if (!frame.rates && total > 0) unpriced.push(frame.spelling);
    }
    let models = "";
    for (const { frame, text, microdollars } of parts.sort(dearestFirst))
      models += `${models ? "," : ""}${frame.inModels}${text},"microdollars":${microdollars}}`;
    return (
      `{"key":${JSON.stringify(key)},"label":${JSON.stringify(label)},"sessions":${sum.sessions},` +
      `"messages":${sum.messages},"activeMs":${sum.activeMs},"usage":{${usage}},"tokens":${textOf(all)},` +
      `"cost":{"microdollars":${Math.round(cost)},"pricedAt":"${PRICED_AT}","unpriced":${JSON.stringify(unpriced)}},` +
      `"models":[${models}]}`
    );
  }

  #frame(number: number): Frame {
    const { model: spelling, key, rates } = this.#keys.priced(number);
    const name = modelName(spelling);
    const quoted = JSON.stringify(spelling);
    const inModels = `{"model":${JSON.stringify(name)},"spellings":[${quoted}],"tokens":`;
    const frame = { spelling, name, inUsage: `${quoted}:`, inModels, isSteady: key === spelling, rates };
    this.#frames[number] = frame;
    return frame;
  }
}

function toPart(frame: Frame, tokens: ArrayLike<number>): Part {
  let total = 0;
  for (let i = 0; i < tokens.length; i++) total += tokens[i] as number;
  const cost = costOf(tokens, frame.rates);
  const microdollars = frame.rates || total === 0 ? Math.round(cost) : null;
  return { frame, tokens, text: textOf(tokens), total, cost, microdollars };
}

const isPlain = (parts: readonly Part[]) =>
  parts.every(({ frame }, i) => frame.isSteady && parts.findIndex(({ frame: { name } }) => name === frame.name) === i);

const dearestFirst = (a: Part, b: Part) =>
  (b.microdollars ?? -1) - (a.microdollars ?? -1) || b.total - a.total || (a.frame.name < b.frame.name ? -1 : 1);

/** In the order of `FIELDS`. */
function textOf(tokens: ArrayLike<number>): string {
  return `{"input":${tokens[0]},"output":${tokens[1]},"cacheWrite5m":${tokens[2]},"cacheWrite1h":${tokens[3]},"cacheRead":${tokens[4]}}`;
}

/** Millionths of a dollar, not rounded. */
export const costOf = (tokens: ArrayLike<number>, rates: Rates | undefined): number =>
  rates ? dot(toUsage(tokens), rates) : 0;
