/**
 * A session's row of the table of usage as JSON, written from its columns: a hundred thousand of them take a fifth of what objects would.
 * Rows in which a model was used at several prices or under several names are made the long way.
 */
import { modelName } from "../prices/names.ts";
import { PRICED_AT, type Rates, toMicrodollars } from "../prices/pricing.ts";
import type { Place } from "./add.ts";
import { FIELDS } from "./packed.ts";
import { toRow } from "./report.ts";
import { type PriceKeys, priceOf, type Sum } from "./sums.ts";

export interface SessionRow {
  place: Place;
  id: string;
  label: string | null;
  /** Adds up what of it lies in the range. */
  sum(): Sum;
}

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
  /** In the order of `FIELDS`, from `at` on. */
  tokens: ArrayLike<number>;
  at: number;
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

  write({ place, id, label, sum }: SessionRow): string {
    const { whole, block, i } = place;
    const parts = whole && this.#partsOf(place);
    if (parts && isPlain(parts))
      return this.#text(id, label, block.work[i * 3] as number, block.work[i * 3 + 1] as number, parts);
    const own = sum();
    const others: Part[] = [];
    own.tokens.forEach((tokens, number) => {
      others.push(toPart(this.#frames[number] ?? this.#frame(number), tokens, 0));
    });
    if (isPlain(others)) return this.#text(id, label, own.messages, own.activeMs, others);
    return JSON.stringify(toRow("session", id, label, this.#keys.tally(own)));
  }

  #text(id: string, label: string | null, messages: number, activeMs: number, parts: Part[]): string {
    const all = [0, 0, 0, 0, 0];
    const unpriced: string[] = [];
    let usage = "";
    let cost = 0;
    for (const { frame, tokens, at, text, total, cost: own } of parts) {
      usage += usage ? `,${frame.inUsage}${text}` : frame.inUsage + text;
      for (let i = 0; i < all.length; i++) all[i] = (all[i] as number) + (tokens[at + i] as number);
      cost += own;
      if (!frame.rates && total > 0) unpriced.push(frame.spelling);
    }
    let models = "";
    for (const { frame, text, microdollars } of parts.sort(dearestFirst))
      models += `${models ? "," : ""}${frame.inModels}${text},"microdollars":${microdollars}}`;
    return (
      `{"key":${JSON.stringify(id)},"label":${JSON.stringify(label)},"sessions":1,` +
      `"messages":${messages},"activeMs":${activeMs},"usage":{${usage}},"tokens":${textOf(all, 0)},` +
      `"cost":{"microdollars":${toMicrodollars(cost)},"pricedAt":"${PRICED_AT}","unpriced":${JSON.stringify(unpriced)}},` +
      `"models":[${models}]}`
    );
  }

  /** Of a session as a whole, from its columns; undefined where a price changes with time. */
  #partsOf({ block, i }: Place): Part[] | undefined {
    const parts: Part[] = [];
    const end = block.starts[i + 1] as number;
    for (let row = block.starts[i] as number; row < end; row++) {
      const number = this.#keys.steady(block.models[row] as number);
      if (number === undefined) return undefined;
      parts.push(toPart(this.#frames[number] ?? this.#frame(number), block.tokens, row * FIELDS.length));
    }
    return parts;
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

function toPart(frame: Frame, tokens: ArrayLike<number>, at: number): Part {
  const { cost, total } = priceOf(tokens, frame.rates, at);
  const microdollars = frame.rates || total === 0 ? toMicrodollars(cost) : null;
  return { frame, tokens, at, text: textOf(tokens, at), total, cost, microdollars };
}

const isPlain = (parts: readonly Part[]) =>
  parts.every(({ frame }, i) => frame.isSteady && parts.findIndex(({ frame: { name } }) => name === frame.name) === i);

const dearestFirst = (a: Part, b: Part) =>
  (b.microdollars ?? -1) - (a.microdollars ?? -1) || b.total - a.total || (a.frame.name < b.frame.name ? -1 : 1);

/** In the order of `FIELDS`. */
const textOf = (tokens: ArrayLike<number>, at: number): string =>
  `{"input":${tokens[at]},"output":${tokens[at + 1]},"cacheWrite5m":${tokens[at + 2]},` +
  `"cacheWrite1h":${tokens[at + 3]},"cacheRead":${tokens[at + 4]}}`;
