/** Notes: bookmarks, tags and notes on sessions and messages, and saved searches. */
import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import * as v from "valibot";
import { commands } from "./commands/index.ts";
import { createNotes, type ListedMark, type Mark, type Notes } from "./notes.ts";
import { migrations } from "./schema.ts";
import { listSearches, removeSearch, type SavedSearch, saveSearch } from "./searches.ts";

export type { ListedMark, Mark, MarkChange, MarkChoice, MarkFilter, Notes } from "./notes.ts";
export type { SavedSearch } from "./searches.ts";

const MOST_TAGS = 50;
const text = (most: number) => v.pipe(v.string(), v.maxLength(most));
const name = v.pipe(v.string(), v.trim(), v.minLength(1, "is empty"), v.maxLength(100));

export const routes = [
  defineRoute({
    method: "GET",
    path: "/notes",
    summary: "Bookmarks, tags and notes of all sessions, newest first",
    query: v.object({
      session: v.optional(v.string()),
      tag: v.optional(v.string()),
      bookmarked: v.optional(v.picklist(["0", "1"])),
      /** Part of a note, a tag or a message. */
      q: v.optional(text(2_000)),
    }),
    handler: ({ kernel, query: { bookmarked, ...filter } }): Promise<ListedMark[]> =>
      kernel.inject("notes").list({ ...filter, ...(bookmarked && { bookmarked: bookmarked === "1" }) }),
  }),
  defineRoute({
    method: "PATCH",
    path: "/sessions/:id/notes",
    summary: "Bookmark, tag or note a session or one of its messages; what is left out is unchanged",
    body: v.object({
      /** A message; default the session itself. */
      seq: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0))),
      bookmarked: v.optional(v.boolean()),
      note: v.optional(text(20_000)),
      tags: v.optional(v.pipe(v.array(v.pipe(text(60), v.trim(), v.minLength(1))), v.maxLength(MOST_TAGS))),
    }),
    handler: ({ kernel, params, body }): Promise<Mark | null> => kernel.inject("notes").set(params.id, body),
  }),
  defineRoute({
    method: "GET",
    path: "/sessions/:id/notes",
    summary: "Bookmarks, tags and notes of a session as lines of a document",
    handler: ({ kernel, params }): Promise<string[]> => kernel.inject("notes").lines(params.id),
  }),
  defineRoute({
    method: "GET",
    path: "/tags",
    summary: "All tags with how often each is used",
    handler: ({ kernel }): Promise<{ tag: string; count: number }[]> => kernel.inject("notes").tags(),
  }),
  defineRoute({
    method: "GET",
    path: "/searches",
    summary: "Saved searches by name",
    handler: ({ kernel }): Promise<SavedSearch[]> => listSearches(kernel.storage.db),
  }),
  defineRoute({
    method: "PUT",
    path: "/searches",
    summary: "Save a search under a name; another one of that name is replaced",
    body: v.object({ name, query: v.pipe(text(2_000), v.trim(), v.minLength(1, "is empty")) }),
    handler: ({ kernel, body }): Promise<SavedSearch[]> => saveSearch(kernel.storage.db, body.name, body.query),
  }),
  defineRoute({
    method: "DELETE",
    path: "/searches",
    summary: "Remove a saved search",
    query: v.object({ name }),
    handler: ({ kernel, query }): Promise<SavedSearch[]> => removeSearch(kernel.storage.db, query.name),
  }),
] as const;

export default definePlugin({
  name: "notes",
  dependsOn: ["archive"],
  routes,
  migrations,
  commands,
  setup(kernel) {
    const notes = createNotes(kernel);
    kernel.provide("notes", notes);
    kernel.hooks.hook("session:replaced", ({ id }) => notes.settle(id));
    kernel.hooks.hook("session:removed", ({ id }) => notes.settle(id));
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    notes: Notes;
  }
}
