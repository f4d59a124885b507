/** Calls as the archive knows them: each joined to the message of the session it was made in, and summed by tool. */
import { type Database, type Kernel, type SessionEvent, type Statement, toRecord } from "sessarc";

export interface JoinedCall {
  at: string;
  service: string;
  tool: string;
  client: string | null;
  ms: number;
  ok: boolean;
  tokensIn: number;
  tokensOut: number;
  /** The session and message it was made in; null while it is not archived, or made by nobody's session. */
  sessionId: string | null;
  seq: number | null;
}

export interface ToolFigures {
  service: string;
  tool: string;
  calls: number;
  errors: number;
  meanMs: number;
  tokensIn: number;
  tokensOut: number;
  lastAt: string;
}

interface Row {
  id: number;
  at: number;
  service: string;
  tool: string;
  name: string;
  client: string | null;
  tool_use_id: string | null;
  ms: number;
  ok: number;
  tokens_in: number;
  tokens_out: number;
  session_id: string | null;
  seq: number | null;
}

/** The client's clock and ours are the same; what lies between is the way to the hub and a person who has to allow the call. */
const NEAR_MS = 60_000;

const iso = (ms: number) => new Date(ms).toISOString();

export function createCallHistory(kernel: Kernel) {
  const { db } = kernel.storage;
  return {
    newest: async (filter: { service?: string | undefined; session?: string | undefined; limit: number }) => {
      const { service = null, session = null, limit } = filter;
      const rows = await db.all<Row>(
        "select * from mcp_call where (? is null or service = ?) and (? is null or session_id = ?) order by id desc limit ?",
        [service, service, session, session, limit],
      );
      return rows.map(toCall);
    },
    figures: async (): Promise<ToolFigures[]> => {
      const rows = await db.all<ToolFigures & { last: number }>(
        `select service, tool, count(*) calls, sum(1 - ok) errors, round(avg(ms), 2) meanMs, sum(tokens_in) tokensIn,
           sum(tokens_out) tokensOut, max(at) last from mcp_call group by service, tool order by calls desc, service, tool`,
      );
      return rows.map(({ last, ...row }) => ({ ...row, lastAt: iso(last) }));
    },
    /** Looks for the calls of a session that was just archived. Reads its messages only when some may be in it. */
    async join(id: string): Promise<void> {
      if (!(await db.get("select 1 from mcp_call where session_id is null limit 1"))) return;
      const archive = kernel.inject("archive");
      const row = await archive.store.row(id);
      if (!row) return;
      const names = Object.keys(toRecord(toRecord(JSON.parse(row.facts)).tools));
      const from = Date.parse(row.started_at ?? "") - NEAR_MS;
      const to = Date.parse(row.ended_at ?? "") + NEAR_MS;
      const open = await openCalls(db, from, to);
      const mine = open.filter((call) => names.some((name) => isNameOf(name, call)));
      if (mine.length === 0) return;
      const statements = await found(archive.events(row), id, mine);
      if (statements.length > 0) await db.batch(statements);
    },
  };
}

async function openCalls(db: Database, from: number, to: number): Promise<Row[]> {
  if (!(from < to)) return [];
  return db.all<Row>("select * from mcp_call where session_id is null and at between ? and ?", [from, to]);
}

async function found(
  batches: AsyncIterable<SessionEvent[]>,
  session: string,
  calls: readonly Row[],
): Promise<Statement[]> {
  const left = new Set(calls);
  const statements: Statement[] = [];
  for await (const events of batches) {
    for (const event of events) {
      if (event.kind !== "tool_use") continue;
      const call = [...left].find((it) => isCallOf(event, it));
      if (!call) continue;
      left.delete(call);
      statements.push(["update mcp_call set session_id = ?, seq = ? where id = ?", [session, event.seq, call.id]]);
    }
  }
  return statements;
}

/** By the client's own id where it sent one; else the same tool at about that time. */
function isCallOf(event: Pick<SessionEvent, "tool_use_id" | "tool_name" | "at">, call: Row): boolean {
  if (call.tool_use_id !== null) return event.tool_use_id === call.tool_use_id;
  if (!event.tool_name || !isNameOf(event.tool_name, call)) return false;
  return Math.abs(Date.parse(event.at ?? "") - call.at) <= NEAR_MS;
}

/** Clients put their own name of the hub in front. */
const isNameOf = (name: string, call: Pick<Row, "name">) => name.endsWith(call.name);

function toCall(row: Row): JoinedCall {
  const { at, service, tool, client, ms, ok, tokens_in, tokens_out, session_id, seq } = row;
  return {
    at: iso(at),
    service,
    tool,
    client,
    ms,
    ok: ok === 1,
    tokensIn: tokens_in,
    tokensOut: tokens_out,
    sessionId: session_id,
    seq,
  };
}
export type CallHistory = ReturnType<typeof createCallHistory>;
