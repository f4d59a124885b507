/** Projects: list, rename, delete, associate, unlink, sync. GET /projects/:id is the insights plugin's. */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { defineRoute, type Kernel, mustYield, pages, SessarcError, toEvents, yieldNow } from "sessarc";
import * as v from "valibot";
import type { Project } from "../catalogue/types.ts";
import { answer } from "./import.ts";
import { inTurn, moveSessions, readSessions, removeSessions } from "./project-sessions.ts";

/** Removed sessions announced in one batch. */
const TOLD = 40;

const name = v.pipe(v.string(), v.trim(), v.maxLength(300));

const list = defineRoute({
  method: "GET",
  path: "/projects",
  meta: { team: true },
  summary: "All projects, newest first, with live git information",
  query: v.object({
    /** `0` leaves git out: a list to show at once. */
    git: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query }): Promise<Project[]> => {
    const archive = kernel.inject("archive/open");
    const projects = await archive.store.projects();
    if (query.git === "0") return [...projects];
    const git = await archive.gitOf(projects);
    return projects.map((project) => ({ ...project, git: git.get(project.id) ?? null }));
  },
});

/** One frame of GET /projects/git. */
interface GitFrame {
  id: string;
  git: Project["git"];
}

const gitStates = defineRoute({
  method: "GET",
  path: "/projects/git",
  meta: { team: true },
  summary: "Live git information of all projects, as server-sent events in the order it comes",
  query: v.object({
    /** Of this project alone. */
    project: v.optional(v.string()),
  }),
  handler: async ({ kernel, query }): Promise<Response> => {
    const archive = kernel.inject("archive/open");
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
    const archive = kernel.inject("archive/open");
    if (!(await archive.store.renameProject(params.id, body.name || null)))
      throw new SessarcError("PROJECT_NOT_FOUND", { id: params.id });
    return changed(kernel, params.id, "renamed");
  },
});

const remove = defineRoute({
  method: "DELETE",
  path: "/projects/:id",
  summary:
    "Delete a project and its sessions from the archive; logs are not touched. `withdraw=1`: first from the team's servers, too",
  query: v.object({ withdraw: v.optional(v.picklist(["0", "1"])) }),
  handler: ({ kernel, params, query }) =>
    inTurn(kernel, async () => {
      const archive = kernel.inject("archive/open");
      await archive.project(params.id);
      const team = kernel.find("team");
      if (query.withdraw === "1") await team?.withdraw(await readSessions(kernel, params.id));
      const deleted = { sessions: 0, messages: 0 };
      const gone: string[] = [];
      try {
        await archive.importer.alone(async () => {
          for await (const rows of removeSessions(kernel, params.id)) {
            for (const row of rows) deleted.messages += row.messages;
            deleted.sessions += rows.length;
            for (const { id } of rows) gone.push(id);
          }
          await kernel.storage.db.batch([
            [
              "delete from project where id = ?1 and not exists (select 1 from session where origin_id = ?1) and not exists (select 1 from association where virtual_id = ?1)",
              [params.id],
            ],
            ["delete from association where project_id = ?", [params.id]],
            ["delete from project_alias where project_id = ?", [params.id]],
          ]);
          archive.resolver.reset();
          archive.changed([]);
        });
      } finally {
        for (const page of pages(gone, TOLD)) {
          await Promise.all(page.map((id) => kernel.notify("session:removed", { id })));
          if (mustYield()) await yieldNow();
        }
      }
      await kernel.notify("project:changed", { id: params.id, what: "removed" });
      return { deleted, pushedTo: (await team?.pushedTo(gone)) ?? [] };
    }),
});

const associate = defineRoute({
  method: "POST",
  path: "/projects/:id/associate",
  summary: "Count a project without a folder to the one at `path`",
  body: v.object({ path: v.pipe(v.string(), v.minLength(1)) }),
  handler: ({ kernel, params, body }) =>
    inTurn(kernel, async () => {
      const archive = kernel.inject("archive/open");
      const project = await archive.project(params.id);
      if (!project.virtual) throw new SessarcError("NOT_VIRTUAL", { id: params.id });
      const folder = isAbsolute(body.path) ? await stat(body.path).catch(() => undefined) : undefined;
      if (!folder?.isDirectory()) throw new SessarcError("NO_SUCH_FOLDER", { path: body.path });
      const identity = await archive.resolver.identify({ name: "", label: "" }, { cwd: body.path });
      const target = await archive.resolver.ensure(identity);
      await kernel.storage.db.batch([
        target.write,
        [
          "insert into association (virtual_id, project_id, at) values (?, ?, ?) on conflict (virtual_id) do update set project_id = excluded.project_id, at = excluded.at",
          [params.id, target.id, new Date().toISOString()],
        ],
      ]);
      // What an import brings from here on counts there already.
      await moveSessions(kernel, params.id, target.id);
      return changed(kernel, target.id, "associated");
    }),
});

const unlink = defineRoute({
  method: "POST",
  path: "/projects/:id/unlink",
  summary: "Undo an association; takes the virtual project's id or the id of the one it was counted to",
  handler: ({ kernel, params }) =>
    inTurn(kernel, async () => {
      const archive = kernel.inject("archive/open");
      await archive.project(params.id);
      const { db } = kernel.storage;
      const links = await db.all<{ virtual_id: string }>(
        "select virtual_id from association where virtual_id = ? or project_id = ? order by at",
        [params.id, params.id],
      );
      const [first] = links;
      if (!first) throw new SessarcError("NOT_ASSOCIATED", { id: params.id });
      await archive.importer.alone(async () => {
        for (const { virtual_id } of links) {
          await moveSessions(kernel, virtual_id, null);
          await db.run("delete from association where virtual_id = ?", [virtual_id]);
        }
      });
      return changed(kernel, first.virtual_id, "unlinked");
    }),
});

const sync = defineRoute({
  method: "POST",
  path: "/projects/:id/sync",
  summary: "Scan again and import what changed in this project, associated sessions included",
  handler: async ({ kernel, params, event }) => {
    const archive = kernel.inject("archive/open");
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

async function changed(kernel: Kernel, id: string, what: "renamed" | "associated" | "unlinked"): Promise<Project> {
  const archive = kernel.inject("archive/open");
  archive.changed([]); // no session contains a project's name
  const project = await archive.project(id);
  await kernel.notify("project:changed", { id, what });
  return { ...project, git: (await archive.gitOf([project])).get(id) ?? null };
}
