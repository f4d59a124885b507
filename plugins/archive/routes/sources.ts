/** GET, POST and DELETE /sources. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import { findBackups } from "../places/backups.ts";
import { findClosed } from "../places/closed.ts";
import { findNeighbours } from "../places/neighbours.ts";

/** Longer than any file system takes. */
const path = v.pipe(v.string(), v.nonEmpty("is empty"), v.maxLength(4_096, "is too long for a path"));
const tool = v.pipe(v.string(), v.nonEmpty("is empty"));

const list = defineRoute({
  method: "GET",
  path: "/sources",
  summary:
    "Where each tool's logs are read, folders that were added among them, assistants whose logs cannot be read, and homes beside this one and backups that can be added (WSL, Windows, copies, restic, Time Machine)",
  handler: async ({ kernel }) => {
    const { sources } = kernel.inject("archive/open");
    const tools = await sources.list();
    const read = tools.flatMap((one) => one.sources.map(({ path }) => path));
    const [closed, neighbours, backups] = await Promise.all([
      findClosed(kernel.env),
      findNeighbours(kernel.registry.adapters.values(), kernel.env, read),
      findBackups(kernel.registry.adapters.values(), kernel.env, read),
    ]);
    return { tools, closed, offered: [...neighbours, ...backups] };
  },
});

const add = defineRoute({
  method: "POST",
  path: "/sources",
  summary: "Read a tool's logs in another folder too: a backup, another home, a mounted disk",
  body: v.object({ tool, path }),
  handler: ({ kernel, body }) => kernel.inject("archive/open").sources.add(body.tool, body.path),
});

const remove = defineRoute({
  method: "DELETE",
  path: "/sources",
  summary: "No longer read an added folder; what was imported from it stays",
  query: v.object({ tool, path }),
  handler: async ({ kernel, query }) => {
    await kernel.inject("archive/open").sources.remove(query.tool, query.path);
    return { removed: true };
  },
});

export const sourceRoutes = [list, add, remove] as const;
