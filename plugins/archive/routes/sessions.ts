/** Sessions: list, get, rename, delete, sync. */
import { defineRoute, SessarcError } from "sessarc";
import * as v from "valibot";
import { SESSION_KINDS } from "../catalogue/filter.ts";
import { leftOut } from "../catalogue/left-out.ts";
import { SESSION_SORTS } from "../catalogue/pages.ts";
import type { EarlierText, Session } from "../catalogue/types.ts";
import { erasedWith } from "../import/write.ts";
import { removeSource } from "../places/source-file.ts";
import { messages } from "./messages.ts";
import { count, limit } from "./query.ts";

/** ISO 8601 to ms. */
const time = v.optional(
  v.pipe(
    v.string(),
    v.check((text) => !Number.isNaN(Date.parse(text)), "must be a time in ISO 8601"),
    v.transform(Date.parse),
  ),
);

const leftOutOf = defineRoute({
  method: "GET",
  path: "/sessions/left-out",
  summary: "Sessions with replies that are in no figure, since a row of their log has a time or a count that cannot be",
  handler: ({ kernel }) => leftOut(kernel.storage.db),
});

const list = defineRoute({
  method: "GET",
  path: "/sessions",
  meta: { team: true },
  summary: "Sessions, newest first",
  query: v.object({
    /** Id, name or path. */
    project: v.optional(v.string()),
    tool: v.optional(v.string()),
    days: v.optional(v.pipe(count(3650), v.minValue(1))),
    /** ISO 8601: sessions that went on at or after this time. */
    after: time,
    /** Sessions that had begun before this time. */
    before: time,
    q: v.optional(v.string()),
    parent: v.optional(v.string()),
    subagents: v.optional(v.picklist(["0", "1"])),
    kind: v.optional(v.picklist(SESSION_KINDS)),
    /** Names as the logs spell them, several with commas: any of them. */
    model: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(2_000))),
    errors: v.optional(v.picklist(["0", "1"])),
    /** What the session is at its assistant. */
    state: v.optional(v.picklist(["listed", "hidden", "dying", "gone", "reclaimed", "folder-gone"])),
    sort: v.optional(v.picklist(SESSION_SORTS)),
    limit: v.optional(limit),
    cursor: v.optional(v.string()),
  }),
  handler: async ({ kernel, query }) => {
    const { store, checkTool, projectIds } = kernel.inject("archive/open");
    if (query.tool !== undefined) await checkTool(query.tool);
    const project = query.project === undefined ? undefined : await projectIds(query.project);
    const filter = {
      project,
      tool: query.tool,
      q: query.q,
      parent: query.parent,
      topLevel: query.subagents === "0",
      since: query.after ?? (query.days === undefined ? undefined : Date.now() - query.days * 86_400_000),
      until: query.before,
      kind: query.kind,
      models: query.model?.split(","),
      errors: query.errors === "1",
      condition: query.state && (await kernel.inject("rescue").condition(query.state)),
      sort: query.sort,
    };
    return store.page({ ...filter, limit: query.limit ?? 100 }, query.cursor);
  },
});

const find = defineRoute({
  method: "GET",
  path: "/sessions/find",
  meta: { team: true },
  summary: "The session a text names: its id, the beginning or a part of it, or `last`",
  query: v.object({ name: v.string() }),
  handler: async ({ kernel, query }) => {
    const archive = kernel.inject("archive/open");
    return { session: await archive.session(await archive.store.sessionNamed(query.name)) };
  },
});

const get = defineRoute({
  method: "GET",
  path: "/sessions/:id",
  meta: { team: true },
  summary:
    "One session with its sub-agents, forks, linked sessions and earlier texts, and the command that goes on with it",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive/open");
    const session = await archive.session(params.id);
    const leads = session.links.flatMap((link) => ("sessionId" in link ? link.sessionId : []));
    const [project, subagents, forks, earlier, linked] = await Promise.all([
      archive.project(session.projectId),
      archive.store.list({ parent: params.id, sort: "oldest" }),
      archive.store.list({ forkedFrom: params.id, sort: "oldest" }),
      archive.store.earlier(params.id),
      archive.store.list({ ids: leads, sort: "oldest" }),
    ]);
    const resume = await archive.resume(params.id);
    const scrubbed = (await kernel.find("masks")?.removed(params.id)) ?? null;
    const texts = earlier.map(({ parts: _, ...text }): EarlierText => text);
    return { session, project, subagents, forks, earlier: texts, linked, resume, scrubbed };
  },
});

const rename = defineRoute({
  method: "PATCH",
  path: "/sessions/:id",
  summary: "Rename a session; null or an empty name goes back to the tool's title",
  body: v.object({ name: v.nullable(v.pipe(v.string(), v.trim(), v.maxLength(300))) }),
  handler: async ({ kernel, params, body }): Promise<Session> => {
    const archive = kernel.inject("archive/open");
    if (!(await archive.store.renameSession(params.id, body.name || null)))
      throw new SessarcError("SESSION_NOT_FOUND", { id: params.id });
    archive.changed([params.id]);
    return archive.session(params.id);
  },
});

const remove = defineRoute({
  method: "DELETE",
  path: "/sessions/:id",
  summary:
    "Delete the archive's copy and those of its sub-agents; they do not come back by sync. `withdraw=1`: first from the team's servers, too",
  query: v.object({ withdraw: v.optional(v.picklist(["0", "1"])) }),
  handler: async ({ kernel, params, query }) => {
    const archive = kernel.inject("archive/open");
    await archive.row(params.id);
    if (query.withdraw === "1") await kernel.find("team")?.withdraw(await archive.store.family(params.id));
    const ids = await archive.importer.alone(async () => {
      await archive.row(params.id);
      const family = await archive.store.family(params.id);
      const parts: [id: string, generations: number[]][] = [];
      for (const id of family) parts.push([id, await archive.store.generations(id)]);
      const removal = archive.store.removal(family, new Date().toISOString(), params.id);
      await kernel.storage.db.batch([...removal, ...(await erasedWith(kernel, family))]);
      archive.changed(family); // also where a file then cannot be removed
      await archive.readers.retire(async () => {
        for (const [id, generations] of parts) await kernel.storage.transcripts.remove(id, generations);
      });
      return family;
    });
    for (const id of ids) await kernel.notify("session:removed", { id });
    const pushedTo = (await kernel.find("team")?.pushedTo(ids)) ?? [];
    return { deleted: true, subagents: ids.length - 1, pushedTo };
  },
});

const removeSourceFile = defineRoute({
  method: "DELETE",
  path: "/sessions/:id/source-file",
  summary: "Delete the log itself, where one file is one session; the archive's copy stays",
  handler: async ({ kernel, params }) => ({ deleted: await removeSource(kernel, params.id) }),
});

const sync = defineRoute({
  method: "POST",
  path: "/sessions/:id/sync",
  summary: "Import this session again when its log changed",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive/open");
    const row = await archive.row(params.id);
    if (!archive.adapter(row.tool)) throw new SessarcError("ADAPTER_MISSING", { tool: row.tool });
    const { importer } = archive;
    let looked = false;
    // Where its log was; all places are listed only when it is no longer there.
    const named = new Set([params.id]);
    let report = await importer.runPaths(
      [row.source_path],
      (found) => {
        const own = found.filter((one) => one.id === params.id);
        looked = own.length > 0;
        return own;
      },
      named,
    );
    if (!looked) {
      report = await importer.run((scan) => {
        const found = scan.found.get(params.id);
        if (!found) throw new SessarcError("SOURCE_MISSING", { id: params.id });
        return [found];
      }, named);
    }
    const [failed] = report.failed;
    if (failed) throw new SessarcError("SOURCE_DAMAGED", { id: params.id, reason: failed.message });
    return {
      outcome: report.imported > 0 ? ("imported" as const) : ("unchanged" as const),
      messages: (await archive.row(params.id)).length,
    };
  },
});

export const sessionRoutes = [list, leftOutOf, find, get, messages, rename, remove, removeSourceFile, sync] as const;
