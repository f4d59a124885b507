/** Versions: snapshots here, commits upstream. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const snapshots = defineRoute({
  method: "GET",
  path: "/skills/:id/snapshots",
  summary: "Snapshots, newest first; of deleted skills as well",
  handler: async ({ kernel, params }) => ({ snapshots: await kernel.inject("skills").snapshots(params.id) }),
});

const folderHash = defineRoute({
  method: "GET",
  path: "/skills/:id/folder-hash",
  summary: "The hash of a skill's files as `skills-lock.json` has it",
  handler: async ({ kernel, params }) => ({ hash: await kernel.inject("skills").folderHash(params.id) }),
});

const restore = defineRoute({
  method: "POST",
  path: "/skills/:id/restore",
  summary: "Sets a skill to a snapshot, byte for byte; what was there becomes a snapshot",
  body: v.object({ snapshot: v.pipe(v.string(), v.nonEmpty("is empty")) }),
  handler: ({ kernel, params, body }) => kernel.inject("skills").restore(params.id, body.snapshot),
});

const check = defineRoute({
  method: "POST",
  path: "/skills/:id/check-upstream",
  summary: "Compares the recorded commit with the repository's tip, and the skill's own folder",
  handler: ({ kernel, params }) => kernel.inject("skills").checkUpstream(params.id),
});

const update = defineRoute({
  method: "POST",
  path: "/skills/:id/update",
  summary: "Shows what the new version changes and its risks; with the `commit` it showed, writes it",
  body: v.optional(
    v.object({
      commit: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{40}$/, "is not a commit in full"))),
      conflicts: v.optional(v.picklist(["mine", "upstream"])),
    }),
    {},
  ),
  handler: ({ kernel, params, body }) => kernel.inject("skills").update(params.id, body),
});

export const versionRoutes = [snapshots, folderHash, restore, check, update] as const;
