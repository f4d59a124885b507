/** GET and POST /vacuum: what deleted sessions left in the catalogue. */
import { defineRoute, type Kernel } from "sessarc";

export interface Room {
  /** Of the catalogue. */
  bytes: number;
  /** Bytes of them that are empty. */
  free: number;
}

async function roomOf(kernel: Kernel): Promise<Room> {
  const { db } = kernel.storage;
  const pages = await db.get<{ page_count: number }>("pragma page_count");
  const free = await db.get<{ freelist_count: number }>("pragma freelist_count");
  const size = (await db.get<{ page_size: number }>("pragma page_size"))?.page_size ?? 0;
  return { bytes: (pages?.page_count ?? 0) * size, free: (free?.freelist_count ?? 0) * size };
}

const room = defineRoute({
  method: "GET",
  path: "/vacuum",
  summary: "How large the catalogue is, and how much of it deleted sessions left empty",
  handler: ({ kernel }): Promise<Room> => roomOf(kernel),
});

/** Projects without a session, with their folders and names. */
const EMPTIED = [
  `delete from project where not exists (select 1 from session where origin_id = project.id or project_id = project.id)
     and not exists (select 1 from association where virtual_id = project.id or project_id = project.id)`,
  "delete from project_alias where not exists (select 1 from project where id = project_alias.project_id)",
];

const vacuum = defineRoute({
  method: "POST",
  path: "/vacuum",
  summary:
    "Forget what nothing leads to any more, and give the empty room of the catalogue back to the disk, while everything goes on",
  handler: async ({ kernel }): Promise<{ before: number; after: number }> => {
    const { importer, resolver, changed } = kernel.inject("archive/open");
    // An import may be about to store a session of a project that is empty now.
    await importer.alone(async () => {
      await kernel.storage.db.batch(EMPTIED.map((sql) => [sql, []]));
      resolver.reset();
      changed([]);
    });
    await kernel.hooks.callHook("archive:vacuum");
    return kernel.storage.db.compact();
  },
});

export const vacuumRoutes = [room, vacuum] as const;
