/** GET /sessions/:id/live, GET /live/status, /live/turns and /live/changes, POST /sync/pause and /sync/resume. */

import { defineRoute, eventsResponse, type Kernel, toEvents } from "sessarc";
import * as v from "valibot";
import { followChanges } from "./changes.ts";
import { NO_MARK, type Position, parseId } from "./position.ts";
import { followTurn, type TurnTimes } from "./turns.ts";

/** Sessions of one stream of turns, and how often a line says that it is still there. */
const MOST = 50;
const HEARTBEAT_MS = 15_000;

const follow = defineRoute({
  method: "GET",
  path: "/sessions/:id/live",
  summary: "What is written to a session's log from now on, as events",
  query: v.object({
    /** `id` of the last frame, from a page that opens a new stream itself and cannot send `Last-Event-ID`, which goes first. */
    since: v.optional(v.pipe(v.string(), v.maxLength(40))),
    /** seq of the last message the client has; default: all that the archive has. `since` goes before it. */
    after: v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be a whole number"), v.transform(Number))),
  }),
  handler: async ({ kernel, params, query, event }) => {
    const has: Position | undefined =
      query.after === undefined ? undefined : { seq: query.after + 1, mark: NO_MARK, lineage: "" };
    const { headers, signal } = event.req;
    const client = await kernel
      .inject("live")
      .follow(params.id, parseId(headers.get("last-event-id")) ?? parseId(query.since ?? null) ?? has);
    signal.addEventListener("abort", () => client.drop(), { once: true });
    if (signal.aborted) client.drop();
    return eventsResponse(client.stream);
  },
});

const status = defineRoute({
  method: "GET",
  path: "/live/status",
  summary: "Sessions that are followed right now",
  handler: ({ kernel }) => ({ watchers: kernel.inject("live").status() }),
});

const toHeartbeat = (out: { comment(text: string): void }) =>
  setInterval(() => out.comment("still here"), HEARTBEAT_MS).unref();

/** Resolves when the client or the service is gone. */
const toEnd = async (gone: AbortSignal, { closing }: Kernel): Promise<void> => {
  if (gone.aborted || closing.aborted) return;
  await new Promise((resolve) => {
    gone.addEventListener("abort", resolve, { once: true });
    closing.addEventListener("abort", resolve, { once: true, signal: gone });
  });
};

const changes = defineRoute({
  method: "GET",
  path: "/live/changes",
  summary: "Sessions that were stored or removed, as events",
  handler: ({ kernel }) =>
    toEvents(async (out) => {
      const over = new AbortController();
      followChanges(kernel, out.send, over.signal);
      // The first line says that nothing is missed from here on.
      out.comment("changes");
      const heartbeat = toHeartbeat(out);
      await toEnd(out.gone, kernel);
      clearInterval(heartbeat);
      over.abort();
      out.close();
    }),
});

const turns = (times: TurnTimes) =>
  defineRoute({
    method: "GET",
    path: "/live/turns",
    summary: "Whose turn it is in some sessions, as events",
    query: v.object({
      /** Ids, `session=a&session=b`. */
      session: v.pipe(
        v.union([v.string(), v.array(v.string())]),
        v.transform((ids) => [...new Set([ids].flat())]),
        v.array(v.pipe(v.string(), v.minLength(1))),
        v.maxLength(MOST),
      ),
    }),
    handler: ({ kernel, query }) =>
      toEvents(async (out) => {
        out.comment("turns");
        const heartbeat = toHeartbeat(out);
        try {
          await Promise.all(query.session.map((id) => followTurn(kernel, id, out.send, out.gone, times)));
        } finally {
          clearInterval(heartbeat);
        }
        // Those that ended stay ended: a browser would ask for them again and again.
        await toEnd(out.gone, kernel);
        out.close();
      }),
  });

const pause = defineRoute({
  method: "POST",
  path: "/sync/pause",
  summary: "Pause automatic imports until resumed; changes are remembered",
  handler: async ({ kernel }) => {
    const sync = kernel.inject("sync");
    await sync.pause();
    return sync.status();
  },
});

const resume = defineRoute({
  method: "POST",
  path: "/sync/resume",
  summary: "Resume automatic imports, starting with the logs changed meanwhile",
  handler: async ({ kernel }) => {
    const sync = kernel.inject("sync");
    await sync.resume();
    return sync.status();
  },
});

export const liveRoutes = (times: TurnTimes = {}) => [follow, status, turns(times), changes, pause, resume] as const;
