/** Calls as the archive knows them: each joined to the message of the session it was made in, and summed by tool. */
import { type Database, isoAt, type Kernel, type SessionEvent, type SessionUsage, type Statement } from "sessarc";
import { createMatcher, isNameOf, NEAR_MS } from "./matcher.ts";

export interface JoinedCall {
  at: string;
  service: string;
  tool: string;
  client: string | null;
  ms: number;
  ok: boolean;
  tokensIn: number;
  tokensOut: number;
  /** The session and message it was made in; null while it is not archived, or was made outside of a session. */
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
  /**
   * What the joined ones cost their sessions, once each: the model writes the arguments and reads the answer. Null where no call is
   * joined, and without prices.
   */
  cost: CallCost | null;
  lastAt: string;
}

interface CallCost {
  microdollars: number;
  pricedAt: string;
  /** Models without a price. */
  unpriced: string[];
}

interface Prices {
  cost(usage: SessionUsage): CallCost;
}

interface FigureRow extends Omit<ToolFigures, "cost" | "lastAt"> {
  model: string | null;
  ms: number;
  last: number;
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
      const rows = await db.all<FigureRow>(
        `select service, tool, model, count(*) calls, sum(1 - ok) errors, sum(ms) ms, sum(tokens_in) tokensIn,
           sum(tokens_out) tokensOut, max(at) last from mcp_call group by service, tool, model`,
      );
      const tools = new Map<string, FigureRow[]>();
      for (const row of rows) {
        const key = JSON.stringify([row.service, row.tool]);
        tools.set(key, [...(tools.get(key) ?? []), row]);
      }
      const prices = kernel.find("pricing");
      return [...tools.values()].map((of) => toFigures(of, prices)).sort((a, b) => b.calls - a.calls);
    },
    /** Looks for the calls of a session that was just archived. Reads its messages only when some may be in it. */
    async join(id: string): Promise<void> {
      if (!(await db.get("select 1 from mcp_call where session_id is null limit 1"))) return;
      const archive = kernel.inject("archive");
      const row = await archive.find(id);
      if (!row) return;
      const called = await db.all<{ name: string }>("select name from usage_call where session = ?", [id]);
      const from = Date.parse(row.startedAt ?? "") - NEAR_MS;
      const to = Date.parse(row.endedAt ?? "") + NEAR_MS;
      const open = await openCalls(db, from, to);
      const mine = open.filter((call) => called.some(({ name }) => isNameOf(name, call)));
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
  const findCall = createMatcher(calls);
  const statements: Statement[] = [];
  let model: string | null = null;
  for await (const events of batches) {
    for (const event of events) {
      model = event.model ?? model;
      if (event.kind !== "tool_use") continue;
      const call = findCall(event);
      if (!call) continue;
      const joined = [session, event.seq, model, call.id];
      statements.push(["update mcp_call set session_id = ?, seq = ?, model = ? where id = ?", joined]);
    }
  }
  return statements;
}

function toFigures(rows: readonly FigureRow[], prices: Prices | undefined): ToolFigures {
  const sum = (read: (row: FigureRow) => number) => rows.reduce((total, row) => total + read(row), 0);
  const [{ service, tool } = { service: "", tool: "" }] = rows;
  const calls = sum((row) => row.calls);
  const joined = rows.flatMap(({ model, tokensIn, tokensOut }) =>
    model === null ? [] : [{ model, tokensIn, tokensOut }],
  );
  const usage = Object.fromEntries(
    joined.map(({ model, tokensIn, tokensOut }) => [model, { ...NO_TOKENS, input: tokensOut, output: tokensIn }]),
  );
  return {
    service,
    tool,
    calls,
    errors: sum((row) => row.errors),
    meanMs: Math.round((sum((row) => row.ms) / calls) * 100) / 100,
    tokensIn: sum((row) => row.tokensIn),
    tokensOut: sum((row) => row.tokensOut),
    cost: joined.length > 0 ? (prices?.cost(usage) ?? null) : null,
    lastAt: isoAt(Math.max(...rows.map(({ last }) => last))),
  };
}
const NO_TOKENS = { cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };

function toCall(row: Row): JoinedCall {
  const { at, service, tool, client, ms, ok, tokens_in, tokens_out, session_id, seq } = row;
  return {
    at: isoAt(at),
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
