/** The inbox of leaked secrets. */
import { defineRoute, invalidCursor } from "sessarc";
import * as v from "valibot";

const state = v.picklist(["open", "rotated", "harmless"]);
const flag = v.optional(v.picklist(["0", "1"]));
const limit = v.pipe(
  v.string(),
  v.regex(/^\d{1,3}$/, "must be a whole number"),
  v.transform(Number),
  v.minValue(1),
  v.maxValue(200),
);

const list = defineRoute({
  method: "GET",
  path: "/security/leaks",
  summary: "Secrets in the archived sessions, by secret, and the files that hold them now",
  query: v.object({
    state: v.optional(v.picklist(["open", "rotated", "harmless", "all"])),
    session: v.optional(v.string()),
    whole: flag,
    possible: flag,
    limit: v.optional(limit),
    cursor: v.optional(v.string()),
  }),
  handler: ({ kernel, query: { limit = 100, cursor, whole, possible, ...query } }) =>
    kernel.inject("leaks").list({
      ...query,
      whole: whole === "1",
      possible: possible === "1",
      limit,
      offset: cursor === undefined ? 0 : readCursor(cursor),
    }),
});

const count = defineRoute({
  method: "GET",
  path: "/security/leaks/count",
  summary: "How many secrets are open, without their places: for a badge",
  handler: ({ kernel }) => kernel.inject("leaks").count(),
});

function readCursor(cursor: string): number {
  if (!/^\d{1,9}$/.test(cursor)) throw invalidCursor();
  return Number(cursor);
}

const one = defineRoute({
  method: "GET",
  path: "/security/leaks/:id",
  summary: "One secret with its places: where it was written and read, and by which command",
  handler: ({ kernel, params }) => kernel.inject("leaks").one(params.id),
});

const commits = defineRoute({
  method: "GET",
  path: "/security/leaks/:id/commits",
  summary: "Commits that added a secret, in the repositories of its projects",
  handler: ({ kernel, params, signal }) => kernel.inject("leaks").commits(params.id, signal),
});

const mark = defineRoute({
  method: "PATCH",
  path: "/security/leaks/:id",
  summary: "Mark a secret as rotated or harmless, or as open again; the mark is kept by fingerprint",
  body: v.object({ state }),
  handler: ({ kernel, params, body }) => kernel.inject("leaks").mark(params.id, body.state),
});

export const leakRoutes = [list, count, one, commits, mark] as const;
