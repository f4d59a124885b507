/** Links into the tools' folders. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const target = {
  tool: v.pipe(v.string(), v.nonEmpty("is empty")),
  scope: v.optional(v.picklist(["user", "project"])),
  project: v.optional(v.string()),
};

const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "is not a content hash"));

const link = defineRoute({
  method: "POST",
  path: "/skills/:id/link",
  summary: "Links a skill into a tool's folder, or copies it there; 409 when something is in the way",
  body: v.object({
    ...target,
    mode: v.optional(v.picklist(["symlink", "copy"])),
    again: v.optional(v.boolean()),
    /** Content hash of the folder in the way, as `GET /skills/compare` shows it. */
    replace: v.optional(hash),
  }),
  handler: ({ kernel, params, body }) => kernel.inject("skills").link(params.id, body),
});

const unlink = defineRoute({
  method: "POST",
  path: "/skills/:id/unlink",
  summary: "Removes a link or copy that sessarc made and that still is what it made",
  body: v.object({
    ...target,
    /** A snapshot to put in the copy's place, as a folder of the user's. */
    back: v.optional(v.pipe(v.string(), v.nonEmpty("is empty"))),
  }),
  handler: ({ kernel, params, body }) => kernel.inject("skills").unlink(params.id, body),
});

const drift = defineRoute({
  method: "GET",
  path: "/skills/:id/drift",
  summary: "Store, copies in tools' folders and upstream side by side, with the files that differ",
  handler: ({ kernel, params }) => kernel.inject("skills").drift(params.id),
});

const place = v.pipe(v.string(), v.nonEmpty("is empty"), v.maxLength(4096));

const compare = defineRoute({
  method: "GET",
  path: "/skills/compare",
  summary: "Two places of a skill side by side: the files that differ, with diffs",
  /** Each the id of a stored skill, or a path of the scan. */
  query: v.object({ from: place, to: place }),
  handler: ({ kernel, query: { from, to } }) => kernel.inject("skills").compare(from, to),
});

const take = defineRoute({
  method: "POST",
  path: "/skills/:id/take",
  summary: "Sets a skill to what an assistant's folder holds; the version before becomes a snapshot",
  body: v.object({ path: place, contentHash: hash }),
  handler: ({ kernel, params, body }) => kernel.inject("skills").take(params.id, body),
});

export const linkRoutes = [compare, link, unlink, take, drift] as const;
