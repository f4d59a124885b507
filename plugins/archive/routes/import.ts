/** POST /import, GET /import/status, POST /import/cancel, GET and POST /sync. */

import { type Database, defineRoute, toEvents } from "sessarc";
import * as v from "valibot";
import type { Freshness, Importer } from "../import/importer.ts";
import { type ImportFrame, type ImportReport, NO_PROGRESS } from "../import/report.ts";
import type { Scan } from "../places/scan.ts";

type CaughtUp = Awaited<ReturnType<Importer["catchUp"]>>;

const NONE: ReadonlySet<string> = new Set();
/** Stores when the listing of the first import began that the user asked for, even of one that found nothing: what is written later is new. */
async function noteFirst(db: Database, listedAt: number): Promise<void> {
  if (await db.get("select 1 from import_state")) return;
  await db.batch([["insert into import_state (first_at) values (?)", [new Date(listedAt).toISOString()]]]);
}

const importRoute = defineRoute({
  method: "POST",
  path: "/import",
  summary: "Import sessions; with `Accept: text/event-stream` progress comes as events",
  body: v.pipe(
    v.object({
      sessions: v.optional(v.array(v.string())),
      tools: v.optional(v.array(v.string())),
      projects: v.optional(v.array(v.string())),
      all: v.optional(v.boolean()),
    }),
    v.check(
      (body) => Boolean(body.sessions ?? body.tools ?? body.projects ?? body.all),
      "Name sessions, tools or projects, or say all: true",
    ),
  ),
  handler: async ({ kernel, body, event }) => {
    const { importer } = kernel.inject("archive/open");
    const { choose, named } = await importer.select(body);
    return answer(event.req, async (onFrame) => {
      const chosen = async (scan: Scan) => {
        if (body.all) await importer.wantAll(true);
        await noteFirst(kernel.storage.db, importer.listedAt);
        return choose(scan);
      };
      const report = await importer.run(chosen, named, onFrame);
      if (body.all && report.cancelled === 0) {
        await importer.wantAll(false);
        await importer.inSync();
      }
      await kernel.notify("import:done", report);
      return report;
    });
  },
});

const status = defineRoute({
  method: "GET",
  path: "/import/status",
  meta: { team: true },
  summary:
    "The running import's progress, or idle; with `Accept: text/event-stream` all it tells, from what is done so far to its end",
  handler: ({ kernel, event }) => {
    const { bulletin } = kernel.inject("archive/open").importer;
    if (!wantsEvents(event.req)) return bulletin.progress;
    return toEvents((out) => {
      const leave = bulletin.follow((frame) => {
        out.send(frame);
        if (frame.type === "done" || frame.type === "idle") out.close();
      }, out.room);
      out.gone.addEventListener("abort", leave, { once: true });
    });
  },
});

const cancel = defineRoute({
  method: "POST",
  path: "/import/cancel",
  summary:
    "Cancel the running import; what is finished stays. Answers when it has ended; `cancelled` is false when none ran",
  handler: async ({ kernel }) => ({ cancelled: await kernel.inject("archive/open").importer.cancel() }),
});

const freshness = defineRoute({
  method: "GET",
  path: "/sync",
  summary:
    "When the archive was last in sync with the logs (`asOf`; null: not known), and how many logs are newer (`behind`; null: some, not counted), by sizes and times",
  handler: async ({ kernel }): Promise<Freshness> => {
    const status = kernel.address && kernel.find("sync")?.status();
    // A service that follows the logs knows without looking.
    if (status?.mode !== "watching" && status?.mode !== "polling")
      return kernel.inject("archive/open").importer.freshness();
    const behind = status.pending;
    return { asOf: behind === 0 ? new Date().toISOString() : status.lastAt, behind };
  },
});

const sync = defineRoute({
  method: "POST",
  path: "/sync",
  summary:
    "Import what changed since the last run; `wait=1` answers when done. `within` (ms, 1 to 60000): newest first, until then, without logs that were left out at the first import (`older=1`: with those); answers what is left",
  query: v.object({
    wait: v.optional(v.picklist(["0", "1"])),
    within: v.optional(v.pipe(v.string(), v.digits(), v.toNumber(), v.minValue(1), v.maxValue(60_000))),
    older: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query }): Promise<ImportReport | CaughtUp | { started: true }> => {
    const { importer } = kernel.inject("archive/open");
    if (query.within !== undefined) return importer.catchUp(query.within, query.older === "1");
    const run = importer
      .run((result: Scan) => result.found.all(), NONE, undefined, { sameRoots: true })
      .then(async (report) => {
        if (report.cancelled === 0) await importer.inSync();
        return report;
      });
    if (query.wait === "1") return run;
    run.catch((error: unknown) =>
      kernel.notify("request:error", error, { method: "POST", path: "/api/sync", errorId: "sync" }),
    );
    return { started: true };
  },
});

export const importRoutes = [importRoute, status, cancel, freshness, sync] as const;

/** The run's report as JSON, or its frames and then the report as events. A client that goes away leaves the run alone. */
export async function answer(
  request: Request,
  run: (onFrame: (frame: ImportFrame) => void) => Promise<ImportReport>,
): Promise<ImportReport | Response> {
  if (!wantsEvents(request)) return run(() => {});
  return toEvents(({ send, close }) => {
    send(NO_PROGRESS);
    return run((frame) => send(frame))
      .then(
        (report) => send({ type: "done", ...report }),
        (error: { code?: string; message?: string }) =>
          send({
            type: "error",
            code: error.code ?? "INTERNAL",
            message: error.code ? error.message : "The import failed",
          }),
      )
      .finally(close);
  });
}

const wantsEvents = (request: Request) => request.headers.get("accept")?.includes("text/event-stream") === true;
