/** GET and POST /vacuum: the room that deleted sessions left in the catalogue. */
import { defineRoute, type Kernel } from "sessarc";

export interface Room {
  /** Of the catalogue. */
  bytes: number;
  /** Of them, what nothing stands in. */
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

const vacuum = defineRoute({
  method: "POST",
  path: "/vacuum",
  summary: "Give the empty room of the catalogue back to the disk, while everything goes on",
  handler: async ({ kernel }): Promise<{ before: number; after: number }> => kernel.storage.db.compact(),
});

export const vacuumRoutes = [room, vacuum] as const;
