/** GET /scan, POST /import, GET /import/status, POST /import/cancel, POST /sync. */
import { defineRoute, type Kernel, type SessionRef, Slices, toEvents } from "sessarc";
import * as v from "valibot";
import { type ImportFrame, type ImportReport, NO_PROGRESS } from "../import/report.ts";
import { type Found, type Scan, versionOf } from "../places/scan.ts";

const NONE: ReadonlySet<string> = new Set();

export type SessionState = "new" | "changed" | "imported" | "deleted";
export interface ScannedSession {
  id: string;
  tool: string;
  title: string | null;
  path: string;
  bytes: number;
  modifiedAt: string | null;
  /** Messages: exact once imported, before that reckoned from the log's size. */
  messageEstimate: number;
  state: SessionState;
}
export interface ScannedProject {
  key: string;
  name: string;
  path: string | null;
  virtual: boolean;
  tools: string[];
  sessions: ScannedSession[];
}

/** Bytes of log per message, for estimates; measured on coding logs. */
const BYTES_PER_MESSAGE = 2_000;

const scan = defineRoute({
  method: "GET",
  path: "/scan",
  summary: "What can be imported, by project",
  query: v.object({
    tool: v.optional(v.string()),
    /** `0`: what the tools have and no more. Which project a log belongs to takes a look into each that is not imported yet. */
    projects: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query }) => {
    const { importer } = kernel.inject("archive");
    const result = await importer.scan();
    const tools = result.tools.filter((tool) => query.tool === undefined || tool.tool === query.tool);
    const found = [...result.found.values()].filter((one) => query.tool === undefined || one.ref.tool === query.tool);
    return { tools, projects: query.projects === "0" ? [] : await groupByProject(kernel, found) };
  },
});

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
    const { importer } = kernel.inject("archive");
    const { choose, named } = await importer.select(body);
    return answer(event.req, (onFrame) => importer.run(choose, named, onFrame));
  },
});

const status = defineRoute({
  method: "GET",
  path: "/import/status",
  summary:
    "The running import's progress, or idle; with `Accept: text/event-stream` all it tells, from what is done so far to its end",
  handler: ({ kernel, event }) => {
    const { bulletin } = kernel.inject("archive").importer;
    if (!wantsEvents(event.req)) return bulletin.progress;
    return toEvents((out) => {
      const leave = bulletin.follow((frame) => {
        out.send(frame);
        if (frame.type === "done" || frame.type === "idle") out.close();
      });
      out.gone.addEventListener("abort", leave, { once: true });
    });
  },
});

const cancel = defineRoute({
  method: "POST",
  path: "/import/cancel",
  summary:
    "Cancel the running import; what is finished stays. Answers when it has ended; `cancelled` is false when none ran",
  handler: async ({ kernel }) => ({ cancelled: await kernel.inject("archive").importer.cancel() }),
});

const sync = defineRoute({
  method: "POST",
  path: "/sync",
  summary: "Import what changed since the last run; `wait=1` answers when done",
  query: v.object({ wait: v.optional(v.picklist(["0", "1"])) }),
  handler: async ({ kernel, query }): Promise<ImportReport | { started: true }> => {
    const { importer } = kernel.inject("archive");
    const run = importer
      .run((result: Scan) => [...result.found.values()], NONE)
      .then((report) => {
        if (report.cancelled === 0) importer.lastSyncAt = new Date().toISOString();
        return report;
      });
    if (query.wait === "1") return run;
    run.catch((error: unknown) =>
      kernel.notify("request:error", error, { method: "POST", path: "/api/sync", errorId: "sync" }),
    );
    return { started: true };
  },
});

export const importRoutes = [scan, importRoute, status, cancel, sync] as const;

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

/** What the archive says of a session that stands in a scan. */
interface StoredTitle {
  id: string;
  title: string | null;
  project_id: string;
  project: string;
  path: string | null;
  kind: string;
  messages: number;
  version: string;
}

/** Rows read between two looks at the clock. */
const PAGE = 500;

async function groupByProject(kernel: Kernel, found: readonly Found[]): Promise<ScannedProject[]> {
  const archive = kernel.inject("archive");
  const { db } = kernel.storage;
  const rows = new Map<string, StoredTitle>();
  const slices = new Slices();
  for (let after = 0; ; ) {
    const page = await db.all<StoredTitle & { rowid: number }>(
      `select s.rowid, s.id, coalesce(s.name, s.title, s.first_prompt) as title, s.project_id, coalesce(p.name, p.derived_name) as project,
         p.path, p.kind, s.message_count as messages, s.source_version as version
       from session s join project p on p.id = s.project_id where s.rowid > ? order by s.rowid limit ${PAGE}`,
      [after],
    );
    const last = page.at(-1);
    if (!last) break;
    for (const row of page) rows.set(row.id, row);
    after = last.rowid;
    if (slices.due) await slices.turn();
  }
  const deleted = await archive.store.tombstones();
  const projects = new Map<string, ScannedProject>();
  const groupOf = (key: string, name: string, path: string | null, virtual: boolean) => {
    let group = projects.get(key);
    if (!group) {
      group = { key, name, path, virtual, tools: [], sessions: [] };
      projects.set(key, group);
    }
    return group;
  };
  const perMessage = bytesPerMessage(
    found.flatMap(({ id, ref }) => {
      const row = rows.get(id);
      return row ? [{ tool: ref.tool, bytes: ref.size ?? 0, messages: row.messages }] : [];
    }),
  );
  for (const one of found) {
    const { ref } = one;
    const row = rows.get(one.id);
    let group: ScannedProject;
    let title: string | null;
    if (row) {
      group = groupOf(row.project_id, row.project, row.path, row.kind === "virtual");
      title = row.title;
    } else {
      const identity = await archive.importer.identify(one);
      const id = await archive.resolver.idOf(identity);
      group = groupOf(id, identity.name, identity.path, identity.kind === "virtual");
      title = (await archive.importer.peek(one)).title;
    }
    if (!group.tools.includes(ref.tool)) group.tools.push(ref.tool);
    if (slices.due) await slices.turn();
    group.sessions.push({
      id: one.id,
      tool: ref.tool,
      title,
      path: ref.path,
      bytes: ref.size ?? 0,
      modifiedAt: ref.mtime === undefined ? null : new Date(ref.mtime).toISOString(),
      messageEstimate: row?.messages ?? Math.ceil((ref.size ?? 0) / perMessage(ref.tool)),
      state: stateOf(ref, row?.version, deleted.has(one.id)),
    });
  }
  const list = [...projects.values()];
  for (const project of list) {
    project.tools.sort();
    project.sessions.sort((a, b) => (b.modifiedAt ?? "").localeCompare(a.modifiedAt ?? ""));
  }
  return list.sort((a, b) => (b.sessions[0]?.modifiedAt ?? "").localeCompare(a.sessions[0]?.modifiedAt ?? ""));
}

/** What a message took in this user's own logs of the same tool; a usual figure until some are imported. */
function bytesPerMessage(known: readonly { tool: string; bytes: number; messages: number }[]) {
  const sums = new Map<string, { bytes: number; messages: number }>();
  for (const { tool, bytes, messages } of known) {
    const sum = sums.get(tool) ?? { bytes: 0, messages: 0 };
    sums.set(tool, { bytes: sum.bytes + bytes, messages: sum.messages + messages });
  }
  return (tool: string): number => {
    const sum = sums.get(tool);
    return sum && sum.messages > 0 && sum.bytes > 0 ? sum.bytes / sum.messages : BYTES_PER_MESSAGE;
  };
}

function stateOf(ref: SessionRef, version: string | undefined, deleted: boolean): SessionState {
  if (version === undefined) return deleted ? "deleted" : "new";
  return version === versionOf(ref) ? "imported" : "changed";
}
