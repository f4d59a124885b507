/** Calls as they were: how many, how long, how large. The newest in memory for the figures, all of them in the catalogue. */
import { isRecord, type Storage } from "sessarc";
import { findBytes } from "../large.ts";

interface CallRecord {
  /** ms since the epoch. */
  at: number;
  service: string;
  /** The service's own name of the tool. */
  tool: string;
  /** The name the client called. */
  name: string;
  client: string | null;
  toolUseId: string | null;
  ms: number;
  ok: boolean;
  /** Of the arguments and of the answer, estimated. */
  tokensIn: number;
  tokensOut: number;
}

interface CallStats {
  add(record: CallRecord): void;
  of(service: string): { calls: number; p95Ms: number | null };
  flush(): Promise<void>;
}

const KEPT_TIMES = 512;
const FLUSH_MS = 2_000;
const MOST_WAITING = 2_000;
/** Rows of calls in the catalogue; the oldest go first. */
const MOST_ROWS = 50_000;
/** All that wait in one statement: each of its own costs as much as a call. */
const INSERT = `insert into mcp_call (at, service, tool, name, client, tool_use_id, ms, ok, tokens_in, tokens_out)
  select ${Array.from({ length: 10 }, (_, i) => `json_extract(value, '$[${i}]')`).join(", ")} from json_each(?)`;
const PRUNE = `delete from mcp_call where id <= (select max(id) from mcp_call) - ${MOST_ROWS}`;

/** Where nothing may be stored, calls are counted in memory alone. */
export function createCallStats(
  { db, readOnly }: Pick<Storage, "db" | "readOnly">,
  failed: (error: unknown) => void,
): CallStats {
  const times = new Map<string, { calls: number; ms: Float64Array }>();
  let waiting: CallRecord[] = [];
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const records = waiting;
    waiting = [];
    if (records.length === 0) return;
    const rows = records.map(({ at, service, tool, name, client, toolUseId, ms, ok, tokensIn, tokensOut }) => [
      at,
      service,
      tool,
      name,
      client,
      toolUseId,
      ms,
      ok ? 1 : 0,
      tokensIn,
      tokensOut,
    ]);
    await db.batch([[INSERT, [JSON.stringify(rows)]], [PRUNE]]);
  }

  return {
    flush,
    add(record) {
      const row = times.get(record.service) ?? { calls: 0, ms: new Float64Array(KEPT_TIMES) };
      row.ms[row.calls % KEPT_TIMES] = record.ms;
      row.calls++;
      times.set(record.service, row);
      if (readOnly) return;
      waiting.push(record);
      if (waiting.length >= MOST_WAITING) flush().catch(failed);
      else if (!timer) {
        timer = setTimeout(() => flush().catch(failed), FLUSH_MS);
        timer.unref();
      }
    },
    of(service) {
      const row = times.get(service);
      if (!row) return { calls: 0, p95Ms: null };
      const sorted = row.ms.slice(0, Math.min(row.calls, KEPT_TIMES)).sort();
      const p95 = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? 0;
      return { calls: row.calls, p95Ms: Math.round(p95 * 100) / 100 };
    },
  };
}

/** Tokens of a value as JSON, about four characters each. Counts without making the text. */
export function estimateTokens(value: unknown): number {
  return Math.ceil(lengthOf(value) / 4);
}

function lengthOf(value: unknown): number {
  if (typeof value === "string") return value.length + 2;
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + lengthOf(item) + 1, 2);
  if (!isRecord(value)) return String(value).length;
  const bytes = findBytes(value);
  if (bytes) return bytes.length;
  let sum = 2;
  for (const key in value) sum += key.length + 4 + lengthOf(value[key]);
  return sum;
}
