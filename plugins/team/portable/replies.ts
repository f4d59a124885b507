/** Replies as lines: `[hash, UTC quarter-hour or −1, model with its price class, five token counts]`. */
import type { TokenUsage, UsageEntry } from "sessarc";
import { classed, plainModel } from "sessarc/adapter";

const QUARTER_MS = 900_000;
const FIELDS = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;

/** Of replies of `archive.asLogged`, whose keys are `#` and a hash. */
export function* replyLines(replies: readonly UsageEntry[]): Generator<string> {
  for (const { key = "", at, model, priceClass, usage } of replies) {
    const quarter = at === undefined ? -1 : Math.floor(Date.parse(at) / QUARTER_MS);
    const tokens = FIELDS.map((field) => usage[field]);
    yield JSON.stringify([Number(key.slice(1)), quarter, classed(model, priceClass), ...tokens]);
  }
}

/** The reply of a line; undefined for a line that is not a reply. */
export function toReply(line: string): UsageEntry | undefined {
  const row = parse(line);
  if (!Array.isArray(row)) return undefined;
  const [hash, quarter, key, ...counts]: unknown[] = row;
  if (typeof key !== "string" || !isCount(hash) || counts.length !== FIELDS.length) return undefined;
  const usage: TokenUsage = { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
  for (const [i, field] of FIELDS.entries()) {
    const count = counts[i];
    if (!isCount(count)) return undefined;
    usage[field] = count;
  }
  const model = plainModel(key);
  const reply: UsageEntry = { key: `#${hash}`, model, usage };
  if (model !== key) reply.priceClass = key.slice(classed(model, "").length);
  // To the year 9999, the last that has an ISO time of four digits.
  if (isCount(quarter) && quarter < 281_000_000) reply.at = new Date(quarter * QUARTER_MS).toISOString();
  return reply;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
