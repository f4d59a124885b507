/** Interception records: the checked calls and the decisions, never the secrets. */
import { createHmac, randomBytes } from "node:crypto";
import { createQueue, type Kernel, type SqlValue, type Statement } from "sessarc";
import type { ToolCall } from "./payload.ts";

export interface Interception {
  id: string;
  at: string;
  client: string;
  tool_name: string;
  path: string | null;
  decision: "allow" | "block";
  mode: "enforce" | "observe";
  rules: string[];
  masked: string[];
  sessionId: string | null;
  ms: number;
}

interface Records {
  /**
   * False for a call that another hook asked about within seconds: hooks of one assistant, or of an assistant that also runs another's.
   * `now`: milliseconds of a monotonic clock.
   */
  isNew(call: ToolCall, now: number): boolean;
  /** Returns at once. Records are written in batches every quarter second. */
  add(record: Omit<Interception, "id">, statement?: Statement): void;
  recent(limit: number): Promise<Interception[]>;
  /** Resolves when all records are on disk. */
  flush(): Promise<void>;
}

type Row = Omit<Interception, "rules" | "masked" | "sessionId"> & {
  rules: string;
  masked: string;
  session_id: string | null;
};

const WAIT_MS = 250;
/** Within this time two hooks ask about one call. */
const WINDOW_MS = 5_000;
const BATCH = 40;
/** Rows to retain; older rows are deleted. */
const KEEP = 5_000;
const INSERT =
  "insert into interception (id, at, client, tool_name, path, decision, mode, rules, masked, session_id, ms) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

export function createRecords(kernel: Kernel): Records {
  const { db } = kernel.storage;
  let waiting: Statement[] = [];
  let timer: NodeJS.Timeout | undefined;
  const writing = createQueue();
  let sinceTrim = 0;

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      waiting = waiting.slice(BATCH);
      await db.batch(batch);
      sinceTrim += batch.length;
    }
    if (sinceTrim < 500) return;
    sinceTrim = 0;
    await db.run(
      "delete from interception where at < (select min(at) from (select at from interception order by at desc limit ?) as newest)",
      [KEEP],
    );
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    return writing(write);
  }

  return {
    ...createRecent(),
    add(record, statement) {
      const { at, client, tool_name, path, decision, mode, rules, masked, sessionId, ms } = record;
      const values: SqlValue[] = [
        `${Date.parse(at).toString(36)}${randomBytes(4).toString("hex")}`,
        at,
        client,
        tool_name,
        path,
        decision,
        mode,
        JSON.stringify(rules),
        JSON.stringify(masked),
        sessionId,
        ms,
      ];
      waiting.push([INSERT, values]);
      if (statement) waiting.push(statement);
      timer ??= setTimeout(() => {
        flush().catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "interceptions" }));
      }, WAIT_MS);
      timer.unref();
    },
    async recent(limit) {
      await flush();
      const rows = await db.all<Row>("select * from interception order by at desc, id desc limit ?", [limit]);
      return rows.map(({ session_id, rules, masked, ...row }) => ({
        ...row,
        rules: JSON.parse(rules) as string[],
        masked: JSON.parse(masked) as string[],
        sessionId: session_id,
      }));
    },
    flush,
  };
}

/** Recognizes a call that two hooks ask about within seconds. Stores only keyed digests, from which no call can be reconstructed. */
function createRecent() {
  const key = randomBytes(32);
  const seen = new Map<string, { at: number; client: string; callId: string | null }>();
  return {
    isNew(call: ToolCall, now: number): boolean {
      for (const [id, { at }] of seen) {
        if (now - at < WINDOW_MS) break;
        seen.delete(id);
      }
      const id = createHmac("sha256", key).update(JSON.stringify(call.tool_input)).digest("base64");
      const before = seen.get(id);
      seen.delete(id);
      seen.set(id, { at: now, client: call.client, callId: call.callId });
      if (!before) return true;
      // Different ids of one assistant are different calls.
      const numbered = before.client === call.client && before.callId !== null && call.callId !== null;
      return numbered && before.callId !== call.callId;
    },
  };
}
