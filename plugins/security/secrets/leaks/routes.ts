/** The inbox of leaked secrets. */
import { defineRoute, invalidCursor } from "sessarc";
import * as v from "valibot";

const state = v.picklist(["open", "rotated", "harmless", "ignored"]);
const states = v.picklist([...state.options, "all"]);
const ids = v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.maxLength(1_000)));
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
    state: v.optional(states),
    session: v.optional(v.string()),
    kind: v.optional(v.string()),
    project: v.optional(v.string()),
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

const groups = defineRoute({
  method: "GET",
  path: "/security/leaks/groups",
  summary: "How many secrets each kind or each project has",
  query: v.object({
    by: v.optional(v.picklist(["kind", "project"])),
    state: v.optional(states),
    possible: flag,
  }),
  handler: ({ kernel, query: { by = "kind", state, possible } }) =>
    kernel.inject("leaks").groups(by, { state, possible: possible === "1" }),
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
  summary: "Mark a secret as revoked (rotated), harmless or ignored, or as open again; the mark is kept by fingerprint",
  body: v.object({ state }),
  handler: ({ kernel, params, body }) => kernel.inject("leaks").mark(params.id, body.state),
});

const markMany = defineRoute({
  method: "POST",
  path: "/security/leaks/mark",
  summary:
    "Mark several secrets at once: by id, or all open ones of a kind or of a project. Answers the state each had",
  body: v.object({ state, ids, kinds: ids, projects: ids, possible: v.optional(v.boolean()) }),
  handler: ({ kernel, body: { state, ids = [], kinds = [], projects = [], possible } }) =>
    kernel.inject("leaks").markAll({ state, ids, kinds, projects, possible }),
});

export const leakRoutes = [list, groups, count, one, commits, mark, markMany] as const;
