/** Clients up to revision 2025-11-25: a session with a handshake, requests and streams of its own. */
import { randomUUID } from "node:crypto";
import { isRecord, type JsonRecord, type Kernel, SessarcError, toList, toRecord, toText } from "sessarc";
import type { Hub } from "../hub/hub.ts";
import type { View } from "../hub/view.ts";
import { refuse } from "./refuse.ts";
import { createLegacySession, type LegacySession } from "./session.ts";

interface LegacyEndpoint {
  /** `body` is the parsed body of a POST. */
  handle(request: Request, body: unknown, view: View): Promise<Response | JsonRecord>;
  readonly sessions: number;
  close(): Promise<void>;
}

const MOST_SESSIONS = 500;
const IDLE_MS = 30 * 60_000;
const SWEEP_MS = 60_000;
/** Used so lately that it is in use. */
const RECENT_MS = 60_000;

export function createLegacyEndpoint(kernel: Kernel, hub: Hub): LegacyEndpoint {
  const sessions = new Map<string, LegacySession>();
  let sweep: NodeJS.Timeout | undefined;

  function startSweep(): void {
    sweep ??= setInterval(() => {
      const limit = performance.now() - IDLE_MS;
      for (const session of sessions.values()) if (session.idleSince() < limit) void session.close();
      if (sessions.size > 0) return;
      clearInterval(sweep);
      sweep = undefined;
    }, SWEEP_MS);
    sweep.unref();
  }

  /** Clients return without ending their session: the one that was silent for longest is ended. */
  async function makeRoom(): Promise<void> {
    const [idle] = [...sessions.values()].sort((a, b) => a.idleSince() - b.idleSince());
    if (!idle || idle.idleSince() > performance.now() - RECENT_MS)
      throw new SessarcError("MCP_SESSIONS_FULL", { limit: MOST_SESSIONS });
    await idle.close();
  }

  async function open(request: Request, body: unknown, view: View): Promise<Response | JsonRecord> {
    if (sessions.size >= MOST_SESSIONS) await makeRoom();
    const session = await createLegacySession(kernel, hub, randomUUID(), named(view, body), (id) =>
      sessions.delete(id),
    );
    const response = await session.handle(request, body);
    // The transport refuses a handshake it does not understand; then there is no session.
    if (!(response instanceof Response) || response.ok) sessions.set(session.id, session);
    else await session.close();
    startSweep();
    return response;
  }

  return {
    get sessions() {
      return sessions.size;
    },
    async handle(request, body, view) {
      const id = request.headers.get("mcp-session-id");
      if (id === null && request.method === "POST" && isHandshake(body)) return open(request, body, view);
      if (id === null) return refuse(400, -32000, "Bad Request: Mcp-Session-Id header is required");
      const session = sessions.get(id);
      if (!session) return refuse(404, -32001, "Session not found");
      return session.handle(request, body);
    },
    async close() {
      clearInterval(sweep);
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

const isHandshake = (body: unknown) =>
  (Array.isArray(body) ? body : [body]).some((message) => isRecord(message) && message.method === "initialize");

/** Clients say who they are in the handshake; the address says it better where it does. */
function named(view: View, body: unknown): View {
  if (view.context.client !== null) return view;
  const handshake = toRecord((Array.isArray(body) ? toList(body) : [body]).find((it) => isHandshake(it)));
  const info = toRecord(toRecord(handshake.params as JsonRecord).clientInfo);
  return { ...view, context: { ...view.context, client: toText(info.name) ?? null } };
}
