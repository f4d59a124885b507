/** Routes of the rescue. */

import { isAbsolute } from "node:path";
import { defineRoute, SessarcError } from "sessarc";
import { isFolder } from "sessarc/files";
import * as v from "valibot";
import { DEFAULT_DAYS, LEAST_DAYS } from "./reclaim/reclaim.ts";
import { STATES, type StateOf } from "./state/states.ts";

const PAGE = 50;
/** Sessions of one call. */
const MOST = 200;
/** A hundred years: as good as never. */
const MOST_DAYS = 36_500;

const overview = defineRoute({
  method: "GET",
  path: "/rescue",
  summary:
    "How many sessions their assistants no longer list, will delete within seven days or have deleted; `scan=1` looks for logs first",
  query: v.object({ scan: v.optional(v.picklist(["0", "1"])) }),
  handler: async ({ kernel, query }) => {
    // A run that imports nothing: it notes which logs are gone.
    if (query.scan === "1" && !kernel.storage.readOnly) await kernel.inject("importer").run(() => [], new Set());
    return kernel.inject("rescue").overview();
  },
});

const list = defineRoute({
  method: "GET",
  path: "/rescue/sessions",
  summary: "Sessions in a state, each with its states, their reasons and whether its log is stored",
  query: v.object({
    state: v.picklist(STATES),
    tool: v.optional(v.string()),
    /** Only those that worked in it. */
    folder: v.optional(v.pipe(v.string(), v.maxLength(4096))),
    limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,3}$/), v.transform(Number), v.minValue(1), v.maxValue(MOST))),
    cursor: v.optional(v.string()),
  }),
  handler: async ({ kernel, query }) => {
    const rescue = kernel.inject("rescue");
    const archive = kernel.inject("archive");
    if (query.tool !== undefined) await archive.checkTool(query.tool);
    const inState = await rescue.condition(query.state);
    const condition =
      query.folder === undefined
        ? inState
        : { ...inState, sql: `(${inState.sql}) and cwd = ?`, params: [...inState.params, query.folder] };
    const filter = { tool: query.tool, topLevel: true, condition, limit: query.limit ?? PAGE };
    const { sessions, total, nextCursor } = await archive.page(filter, query.cursor);
    const ids = sessions.map(({ id }) => id);
    const [states, stored] = await Promise.all([rescue.of(ids), rescue.storedOf(ids)]);
    const rows = sessions.map((session) => {
      const own: StateOf[] = states.get(session.id) ?? [];
      return { session, states: own, stored: stored.has(session.id) };
    });
    return { sessions: rows, total, nextCursor };
  },
});

const folders = defineRoute({
  method: "GET",
  path: "/rescue/folders",
  summary:
    "Folders that sessions worked in and that are not there any more, each with how many can be copied into another",
  handler: async ({ kernel }) => ({ folders: await kernel.inject("rescue").goneFolders() }),
});

const folder = v.optional(v.pipe(v.string(), v.maxLength(4096), v.check(isAbsolute, "must be an absolute path")));
const chosen = v.object({
  sessions: v.pipe(v.array(v.string()), v.minLength(1), v.maxLength(MOST)),
  /** Makes copies for this folder instead. */
  folder,
});

const plan = defineRoute({
  method: "POST",
  path: "/rescue/plan",
  summary: "What putting sessions back would write, path by path; nothing is written",
  body: chosen,
  handler: async ({ kernel, body }) => {
    await checkFolder(body.folder);
    const plans = [];
    for (const id of body.sessions) plans.push(await kernel.inject("rescue").plan(id, body.folder));
    return { plans };
  },
});

const restore = defineRoute({
  method: "POST",
  path: "/rescue/restore",
  summary: "Puts sessions back where their assistants look for them; an existing file is never replaced",
  body: chosen,
  handler: async ({ kernel, body }) => {
    await checkFolder(body.folder);
    const rescued = [];
    for (const id of body.sessions) rescued.push(await kernel.inject("rescue").restore(id, body.folder));
    return { rescued };
  },
});

const undo = defineRoute({
  method: "POST",
  path: "/rescue/undo",
  summary: "Removes exactly what putting a session back wrote; a file that changed since stays",
  body: v.object({ session: v.string() }),
  handler: ({ kernel, body }) => kernel.inject("rescue").undo(body.session),
});

const retention = defineRoute({
  method: "POST",
  path: "/rescue/retention",
  summary:
    "Lets an assistant retain its logs for a number of days: a backup and the smallest edit; without `write` the change is only shown",
  body: v.object({
    tool: v.string(),
    days: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST_DAYS)),
    write: v.optional(v.boolean()),
  }),
  handler: ({ kernel, body }) => kernel.inject("rescue").retain(body.tool, body.days, body.write === true),
});

const days = v.pipe(v.number(), v.integer(), v.minValue(LEAST_DAYS), v.maxValue(MOST_DAYS));

const reclaimable = defineRoute({
  method: "GET",
  path: "/rescue/reclaim",
  summary: "Old logs that could be removed at their assistants because their bytes are stored; what was removed before",
  query: v.object({
    tool: v.optional(v.string()),
    days: v.optional(v.pipe(v.string(), v.regex(/^\d{1,5}$/, "must be a whole number"), v.transform(Number), days)),
  }),
  handler: async ({ kernel, query }) => {
    if (query.tool !== undefined) await kernel.inject("archive").checkTool(query.tool);
    return kernel.inject("rescue").reclaim.plan(query.tool, query.days ?? DEFAULT_DAYS);
  },
});

const reclaim = defineRoute({
  method: "POST",
  path: "/rescue/reclaim",
  summary: "Removes old logs at their assistants, each only if what is stored gives the same bytes",
  body: v.object({ tool: v.optional(v.string()), days }),
  handler: async ({ kernel, body }) => {
    if (body.tool !== undefined) await kernel.inject("archive").checkTool(body.tool);
    return kernel.inject("rescue").reclaim.run(body.tool, body.days);
  },
});

const reclaimUndo = defineRoute({
  method: "POST",
  path: "/rescue/reclaim/undo",
  summary: "Puts all logs back that were removed to give their room back",
  handler: ({ kernel }) => kernel.inject("rescue").reclaim.undo(),
});

const drop = defineRoute({
  method: "DELETE",
  path: "/rescue/logs",
  summary: "Removes every stored log, with `all: true`; transcripts and figures stay",
  body: v.object({ all: v.literal(true, "must be true: every stored log is removed") }),
  handler: async ({ kernel }) => ({ bytes: await kernel.inject("rescue").dropLogs() }),
});

const TOKENS = "must be a number from 200 to 32000";

const handoff = defineRoute({
  method: "GET",
  path: "/sessions/:id/handoff",
  summary:
    "A brief of the session for another assistant, without secrets and within a number of tokens; no model is called",
  query: v.object({
    /** The adapter of the assistant it is for: `start` is the command that begins with the brief. */
    to: v.optional(v.string()),
    tokens: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,6}$/, TOKENS),
        v.transform(Number),
        v.minValue(200, TOKENS),
        v.maxValue(32_000, TOKENS),
      ),
    ),
  }),
  handler: async ({ kernel, params, query }) => {
    if (query.to !== undefined) await kernel.inject("archive").checkTool(query.to);
    const { readBrief, DEFAULT_TOKENS } = await import("./handoff/brief.ts");
    return readBrief(kernel, params.id, query.tokens ?? DEFAULT_TOKENS, query.to);
  },
});

const log = defineRoute({
  method: "GET",
  path: "/sessions/:id/log",
  summary: "The files of a session's raw log, at its assistant or stored; `file=n` answers the bytes of one",
  query: v.object({
    file: v.optional(v.pipe(v.string(), v.regex(/^\d{1,5}$/, "must be a whole number"), v.transform(Number))),
  }),
  handler: async ({ kernel, params: { id }, query }) => {
    const files = await kernel.inject("rescue").logFiles(id);
    if (query.file === undefined)
      return { home: kernel.env.home, files: files.map(({ path, size }) => ({ path, size })) };
    const bytes = await files[query.file]?.read();
    if (!bytes) throw new SessarcError("LOG_FILE_MISSING", { id, file: query.file });
    return new Response(bytes, { headers: { "content-type": "application/octet-stream" } });
  },
});

export const rescueRoutes = [
  overview,
  list,
  folders,
  plan,
  restore,
  undo,
  reclaimable,
  reclaim,
  reclaimUndo,
  retention,
  drop,
  handoff,
  log,
] as const;

/** A copy for a folder that is not there could not be resumed. */
async function checkFolder(path: string | undefined): Promise<void> {
  if (path !== undefined && !(await isFolder(path))) throw new SessarcError("NO_SUCH_FOLDER", { path });
}
