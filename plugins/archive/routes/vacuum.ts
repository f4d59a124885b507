/** GET /storage: what takes how much of the disk. GET and POST /vacuum: what deleted sessions left in the catalogue. */
import { defineRoute } from "sessarc";
import { type Room, readRoom, type StorageReport } from "../catalogue/room.ts";

const room = defineRoute({
  method: "GET",
  path: "/vacuum",
  summary: "How large the catalogue is, and how much of it deleted sessions left empty",
  handler: ({ kernel }): Promise<Room> => readRoom(kernel),
});

/** Projects without a session, with their folders and names. */
const EMPTIED = [
  `delete from project where not exists (select 1 from session where origin_id = project.id or project_id = project.id)
     and not exists (select 1 from association where virtual_id = project.id or project_id = project.id)`,
  "delete from project_alias where not exists (select 1 from project where id = project_alias.project_id)",
];

const storage = defineRoute({
  method: "GET",
  path: "/storage",
  summary: "What the archive takes of the disk, by part and by assistant, and what of it can be given back",
  handler: ({ kernel }): Promise<StorageReport> => kernel.inject("archive/open").room(),
});

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

export const vacuumRoutes = [storage, room, vacuum] as const;
