/** POST /import, GET /import/status, POST /import/cancel, POST /sync. */

import { type Database, defineRoute } from "sessarc";
import * as v from "valibot";
import { toEvents } from "#internal";
import { type ImportFrame, type ImportReport, NO_PROGRESS } from "../import/report.ts";
import type { Scan } from "../places/scan.ts";

const NONE: ReadonlySet<string> = new Set();
/** Stores the time of the first import that the user asked for, even of one that found nothing. */
async function noteFirst(db: Database): Promise<void> {
  if (await db.get("select 1 from import_state")) return;
  await db.batch([["insert into import_state (first_at) values (?)", [new Date().toISOString()]]]);
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
      const report = await importer.run(choose, named, onFrame);
      await noteFirst(kernel.storage.db);
      await kernel.notify("import:done", report);
      return report;
    });
  },
});

const status = defineRoute({
  method: "GET",
  path: "/import/status",
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

const sync = defineRoute({
  method: "POST",
  path: "/sync",
  summary: "Import what changed since the last run; `wait=1` answers when done",
  query: v.object({ wait: v.optional(v.picklist(["0", "1"])) }),
  handler: async ({ kernel, query }): Promise<ImportReport | { started: true }> => {
    const { importer } = kernel.inject("archive/open");
    const run = importer
      .run((result: Scan) => result.found.all(), NONE)
      .then((report) => {
        if (report.cancelled === 0) importer.inStep();
        return report;
      });
    if (query.wait === "1") return run;
    run.catch((error: unknown) =>
      kernel.notify("request:error", error, { method: "POST", path: "/api/sync", errorId: "sync" }),
    );
    return { started: true };
  },
});

export const importRoutes = [importRoute, status, cancel, sync] as const;

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
