/** Requests of ZCode: `model_usage` has a row for each, also for those that no message shows (titles). */
import { type JsonRecord, toNumber, toText } from "sessarc";
import { type Ledger, msToIso, presentColumns, type SqliteFile, toCount, withoutCache } from "sessarc/adapter";

export interface Requests {
  entries: readonly Parameters<Ledger["add"]>[0][];
  /** Whether a reply's tokens are those of a row. `completed`: when it ended, in ms. */
  covers(message: string, completed: number | undefined): boolean;
}

const COLUMNS = [
  "id",
  "assistant_message_id",
  "model_id",
  "started_at",
  "completed_at",
  "input_tokens",
  "output_tokens",
  "reasoning_tokens",
  "cache_read_input_tokens",
  "cache_creation_input_tokens",
  "computed_total_tokens",
];

/** Undefined where the session has none: its messages count then. */
export function findRequests(db: SqliteFile, session: string): Requests | undefined {
  if (presentColumns(db, "model_usage", ["id", "session_id", "output_tokens"]).length < 3) return undefined;
  const columns = presentColumns(db, "model_usage", COLUMNS).join(", ");
  const sql = `select ${columns} from model_usage where session_id = ? order by rowid`;
  const rows = db.all<JsonRecord>(sql, [session]);
  if (rows.length === 0) return undefined;
  const linked = new Set(rows.map((row) => row.assistant_message_id));
  // Replies that ended before the first row are of a version without the table.
  const first = Math.min(...rows.map((row) => toNumber(row.started_at) ?? Number.POSITIVE_INFINITY));
  return {
    entries: rows.map((row) => ({
      key: toText(row.id),
      at: msToIso(row.started_at) ?? msToIso(row.completed_at),
      model: toText(row.model_id) ?? "unknown",
      usage: toUsage(row),
    })),
    covers: (message, completed) => linked.has(message) || completed === undefined || completed > first,
  };
}

/** Input includes cached and written tokens, and output reasoning, unless the total counts them besides. */
function toUsage(row: JsonRecord) {
  const [input, output] = [toCount(row.input_tokens), toCount(row.output_tokens)];
  const [cacheRead, cacheWrite5m] = [toCount(row.cache_read_input_tokens), toCount(row.cache_creation_input_tokens)];
  const reasoning = toCount(row.reasoning_tokens);
  const cached = cacheRead + cacheWrite5m;
  const besides = toCount(row.computed_total_tokens) - input - output;
  const isAll = besides === cached + reasoning;
  const isReasoning = isAll || besides === reasoning;
  return {
    input: isAll || (besides === cached && !isReasoning) ? input : withoutCache(input, cacheRead, cacheWrite5m),
    output,
    reasoning: isReasoning || Number.isNaN(reasoning) ? reasoning : 0,
    cacheRead,
    cacheWrite5m,
  };
}
