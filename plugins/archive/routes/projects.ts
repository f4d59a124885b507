/** Projects: list, rename, delete, associate, unlink, sync. GET /projects/:id is the insights plugin's. */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { defineRoute, type Kernel, marks, pages, SessarcError, type Statement, toEvents } from "sessarc";
import * as v from "valibot";
import type { Project } from "../catalogue/types.ts";
import { answer } from "./import.ts";

const name = v.pipe(v.string(), v.trim(), v.maxLength(300));

const list = defineRoute({
  method: "GET",
  path: "/projects",
  summary: "All projects, newest first, with live git information",
  query: v.object({
    /** `0` leaves git out: a list to show at once. */
    git: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query }): Promise<Project[]> => {
    const archive = kernel.inject("archive");
    const projects = await archive.store.projects();
    if (query.git === "0") return [...projects];
    const git = await archive.gitOf(projects);
    return projects.map((project) => ({ ...project, git: git.get(project.id) ?? null }));
  },
});

/** One frame of GET /projects/git. */
export interface GitFrame {
  id: string;
  git: Project["git"];
}

const gitStates = defineRoute({
  method: "GET",
  path: "/projects/git",
  summary: "Live git information of all projects, as server-sent events in the order it comes",
  query: v.object({
    /** Of this project alone. */
    project: v.optional(v.string()),
  }),
  handler: async ({ kernel, query }): Promise<Response> => {
    const archive = kernel.inject("archive");
    const projects =
      query.project === undefined ? await archive.store.projects() : [await archive.project(query.project)];
    return toEvents(async (out) => {
      out.comment("git");
      await archive.eachGit(projects, (id, git) => out.send({ id, git } satisfies GitFrame), out.gone);
      out.send({}, "end");
      out.close();
    });
  },
});

const rename = defineRoute({
  method: "PATCH",
  path: "/projects/:id",
  summary: "Rename a project; an empty name goes back to the folder's",
  body: v.object({ name: v.nullable(name) }),
  handler: async ({ kernel, params, body }) => {
    const archive = kernel.inject("archive");
    if (!(await archive.store.renameProject(params.id, body.name || null)))
      throw new SessarcError("PROJECT_NOT_FOUND", { id: params.id });
    return changed(kernel, params.id, "renamed", []);
  },
});

const remove = defineRoute({
  method: "DELETE",
  path: "/projects/:id",
  summary: "Delete a project and its sessions from the archive; logs are not touched",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive");
    await archive.project(params.id);
    const { db, transcripts } = kernel.storage;
    const rows = await archive.importer.alone(async () => {
      const found = await db.all<{ id: string; messages: number }>(
        "select id, message_count as messages from session where project_id = ?",
        [params.id],
      );
      const ids = found.map((row) => row.id);
      const parts: [id: string, generations: number[]][] = [];
      for (const id of ids) parts.push([id, await archive.store.generations(id)]);
      await db.batch([
        ...archive.store.removal(ids, new Date().toISOString()),
        [
          "delete from project where id = ?1 and not exists (select 1 from session where origin_id = ?1) and not exists (select 1 from association where virtual_id = ?1)",
          [params.id],
        ],
        ["delete from association where project_id = ?", [params.id]],
        ["delete from project_alias where project_id = ?", [params.id]],
      ]);
      archive.resolver.reset();
      archive.changed(ids); // also where a file then cannot be removed
      await archive.readers.retire(async () => {
        for (const [id, generations] of parts) await transcripts.remove(id, generations);
      });
      return found;
    });
    for (const { id } of rows) await kernel.notify("session:removed", { id });
    await kernel.notify("project:changed", { id: params.id, what: "removed" });
    return { deleted: { sessions: rows.length, messages: rows.reduce((sum, row) => sum + row.messages, 0) } };
  },
});

const associate = defineRoute({
  method: "POST",
  path: "/projects/:id/associate",
  summary: "Count a project without a folder to the one at `path`",
  body: v.object({ path: v.pipe(v.string(), v.minLength(1)) }),
  handler: async ({ kernel, params, body }) => {
    const archive = kernel.inject("archive");
    const project = await archive.project(params.id);
    if (!project.virtual) throw new SessarcError("NOT_VIRTUAL", { id: params.id });
    const folder = isAbsolute(body.path) ? await stat(body.path).catch(() => undefined) : undefined;
    if (!folder?.isDirectory()) throw new SessarcError("NO_SUCH_FOLDER", { path: body.path });
    const identity = await archive.resolver.identify({ name: "", label: "" }, { cwd: body.path });
    const target = await archive.resolver.ensure(identity);
    const statements: Statement[] = [
      target.write,
      [
        "insert or replace into association (virtual_id, project_id, at) values (?, ?, ?)",
        [params.id, target.id, new Date().toISOString()],
      ],
      ["update session set project_id = ? where origin_id = ?", [target.id, params.id]],
    ];
    await kernel.storage.db.batch(statements);
    return changed(kernel, target.id, "associated", await sessionsFrom(kernel, [params.id]));
  },
});

const unlink = defineRoute({
  method: "POST",
  path: "/projects/:id/unlink",
  summary: "Undo an association; takes the virtual project's id or the id of the one it was counted to",
  handler: async ({ kernel, params }) => {
    const archive = kernel.inject("archive");
    await archive.project(params.id);
    const { db } = kernel.storage;
    const links = await db.all<{ virtual_id: string }>(
      "select virtual_id from association where virtual_id = ? or project_id = ? order by at",
      [params.id, params.id],
    );
    const [first] = links;
    if (!first) throw new SessarcError("NOT_ASSOCIATED", { id: params.id });
    await db.batch(
      links.flatMap(({ virtual_id }): Statement[] => [
        ["delete from association where virtual_id = ?", [virtual_id]],
        ["update session set project_id = origin_id where origin_id = ?", [virtual_id]],
      ]),
    );
    const ids = links.map((link) => link.virtual_id);
    return changed(kernel, first.virtual_id, "unlinked", await sessionsFrom(kernel, ids));
  },
});

const sync = defineRoute({
  method: "POST",
  path: "/projects/:id/sync",
  summary: "Scan again and import what changed in this project, associated sessions included",
  handler: async ({ kernel, params, event }) => {
    const archive = kernel.inject("archive");
    await archive.project(params.id);
    const associated = await kernel.storage.db.all<{ virtual_id: string }>(
      "select virtual_id from association where project_id = ?",
      [params.id],
    );
    const { choose, named } = await archive.importer.select({
      projects: [params.id, ...associated.map((row) => row.virtual_id)],
    });
    return answer(event.req, (onFrame) => archive.importer.run(choose, named, onFrame));
  },
});

export const projectRoutes = [list, gitStates, rename, remove, associate, unlink, sync] as const;

/** Sessions that began in these projects, wherever they count now. */
async function sessionsFrom({ storage: { db } }: Kernel, origins: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const page of pages(origins)) {
    const sql = `select id from session where origin_id in (${marks(page)})`;
    for (const { id } of await db.all<{ id: string }>(sql, page)) ids.push(id);
  }
  return ids;
}

/** `sessions`: those whose rows are others now. A name of a project stands in none. */
async function changed(
  kernel: Kernel,
  id: string,
  what: "renamed" | "associated" | "unlinked",
  sessions: readonly string[],
): Promise<Project> {
  const archive = kernel.inject("archive");
  archive.changed(sessions);
  const project = await archive.project(id);
  await kernel.notify("project:changed", { id, what });
  return { ...project, git: (await archive.gitOf([project])).get(id) ?? null };
}
