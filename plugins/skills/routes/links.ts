/** Links into the tools' folders. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const target = {
  tool: v.pipe(v.string(), v.nonEmpty("is empty")),
  scope: v.optional(v.picklist(["user", "project"])),
  project: v.optional(v.string()),
};

const link = defineRoute({
  method: "POST",
  path: "/skills/:id/link",
  summary: "Links a skill into a tool's folder, or copies it there; 409 when something is in the way",
  body: v.object({
    ...target,
    mode: v.optional(v.picklist(["symlink", "copy"])),
    again: v.optional(v.boolean()),
  }),
  handler: ({ kernel, params, body }) => kernel.inject("skills").link(params.id, body),
});

const unlink = defineRoute({
  method: "POST",
  path: "/skills/:id/unlink",
  summary: "Removes a link or copy that sessarc made and that still is what it made",
  body: v.object(target),
  handler: ({ kernel, params, body }) => kernel.inject("skills").unlink(params.id, body),
});

const drift = defineRoute({
  method: "GET",
  path: "/skills/:id/drift",
  summary: "Store, copies in tools' folders and upstream side by side, with the files that differ",
  handler: ({ kernel, params }) => kernel.inject("skills").drift(params.id),
});

export const linkRoutes = [link, unlink, drift] as const;
