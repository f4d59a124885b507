/** Codex's tokens: one way of counting per file, each reply once, copies of a parent's replies apart. */
import { isRecord, type JsonRecord, toText } from "sessarc";
import { createLedger, type Ledger, toCount, withoutCache } from "sessarc/adapter";

export interface TokenPlace {
  at: string | undefined;
  model: string;
  /** Thread that the row belongs to; its own unless the row was copied. */
  thread: string;
  /** Stable within the file: the line's ordinal or offset. */
  position: number;
  inherited: boolean;
  /** As the turn's context or the record has it. */
  tier?: unknown;
}

interface TokenCounter {
  /** A `token_usage_record`: exact, one per reply. From the first one on, `token_count` events are ignored. */
  record(payload: JsonRecord, place: TokenPlace): void;
  /** A `token_count` event: cumulative, repeated at will, and with the parent's total after a fork. */
  event(info: unknown, place: TokenPlace): void;
  summary: Ledger["summary"];
}

const FIELDS = ["input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens"] as const;

export function createCounter(): TokenCounter {
  const ledger = createLedger();
  let total: number[] = [];
  let records = false;
  const add = (counts: readonly number[], key: string, place: TokenPlace, oneCall: boolean): void => {
    const [input = 0, cached = 0, written = 0, output = 0] = counts;
    if (counts.every((count) => count === 0)) return;
    ledger.add({
      key,
      at: place.at,
      model: place.model,
      usage: {
        input: withoutCache(input, cached, written),
        output,
        cacheRead: cached,
        cacheWrite5m: written,
      },
      inherited: place.inherited,
      price: { tier: [place.tier], oneCall },
    });
  };
  return {
    record(payload, place) {
      records = true;
      if (!isRecord(payload.usage)) return;
      const reply = toText(payload.response_id) ?? String(place.position);
      add(
        toCounts(payload.usage),
        `${place.thread}:${reply}`,
        { ...place, tier: payload.service_tier ?? place.tier },
        true,
      );
    },
    event(info, place) {
      if (records || !isRecord(info)) return;
      const next = isRecord(info.total_token_usage) ? toCounts(info.total_token_usage) : undefined;
      if (next && total.length > 0 && next.every((count, index) => count === total[index])) return;
      const last = isRecord(info.last_token_usage) ? toCounts(info.last_token_usage) : undefined;
      // Without the last reply's figures: what the total grew by; a total that fell was reset.
      const grown = next?.map((count, index) => count - (total[index] ?? 0));
      const counts = last ?? (grown?.some((count) => count < 0) ? next : grown);
      // A total that cannot be says nothing of what comes next.
      if (next && !next.some(Number.isNaN)) total = next;
      if (!counts) return;
      const own = { ...place, model: toText(info.model) ?? place.model };
      add(counts, `${place.thread}:${place.position}`, own, last !== undefined);
    },
    summary: ledger.summary,
  };
}

function toCounts(usage: JsonRecord): number[] {
  return FIELDS.map((field) =>
    toCount(field === "cached_input_tokens" ? (usage[field] ?? usage.cache_read_input_tokens) : usage[field]),
  );
}
