/** What the tools have, and the ways into the store. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const text = v.pipe(v.string(), v.nonEmpty("is empty"), v.maxLength(4_096, "is too long"));

const scan = defineRoute({
  method: "GET",
  path: "/skills/scan",
  summary: "Skills in the tools' folders, each in one class: importable, managed, duplicate or broken",
  handler: ({ kernel }) => kernel.inject("skills").scan(),
});

const importScanned = defineRoute({
  method: "POST",
  path: "/skills/import",
  status: 201,
  summary: "Copies a scanned skill into the store; `self` the one that comes with sessarc",
  body: v.union([v.strictObject({ path: text }), v.strictObject({ self: v.literal(true) })]),
  handler: ({ kernel, body }) => {
    const skills = kernel.inject("skills");
    return "path" in body ? skills.importPath(body.path) : skills.importSelf();
  },
});

const github = defineRoute({
  method: "POST",
  path: "/skills/github",
  summary: "Copies skills of a public repository (shallow clone) with the commit; `dryRun` shows what is there",
  body: v.object({
    url: text,
    ref: v.optional(text),
    path: v.optional(v.pipe(v.string(), v.maxLength(4_096, "is too long"))),
    dryRun: v.optional(v.boolean()),
  }),
  handler: ({ kernel, body }) => kernel.inject("skills").importGit(body),
});

export const importRoutes = [scan, importScanned, github] as const;
