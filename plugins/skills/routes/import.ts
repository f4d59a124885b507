/** What the tools have, and the ways into the store. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const text = v.pipe(v.string(), v.nonEmpty("is empty"), v.maxLength(4_096, "is too long"));

const hash = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, "is not a SHA-256"));

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
  summary:
    "Copies a scanned skill into the store (`path`), that of any folder (`folder`), or the one that comes with sessarc",
  body: v.union([
    v.strictObject({ path: text }),
    v.strictObject({ folder: text, contentHash: v.optional(hash) }),
    v.strictObject({ self: v.literal(true) }),
  ]),
  handler: ({ kernel, body }) => {
    const skills = kernel.inject("skills");
    if ("folder" in body) return skills.importFolder(body.folder, body.contentHash);
    return "path" in body ? skills.importPath(body.path) : skills.importSelf();
  },
});

const preview = defineRoute({
  method: "GET",
  path: "/skills/preview",
  summary: "What an import would take: of a folder of this machine (`path`), or of the skill that comes with sessarc",
  query: v.object({ path: v.optional(text) }),
  handler: ({ kernel, query }) => kernel.inject("skills").preview(query.path),
});

const github = defineRoute({
  method: "POST",
  path: "/skills/github",
  summary: "Copies skills of a repository (shallow clone, https or ssh) with the commit; `dryRun` shows what is there",
  body: v.object({
    url: text,
    ref: v.optional(text),
    path: v.optional(v.pipe(v.string(), v.maxLength(4_096, "is too long"))),
    dryRun: v.optional(v.boolean()),
    revision: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/, "is not a commit in full"))),
    contentHash: v.optional(hash),
  }),
  handler: ({ kernel, body }) => kernel.inject("skills").importGit(body),
});

export const importRoutes = [scan, preview, importScanned, github] as const;
