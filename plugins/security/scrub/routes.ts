/** Routes of the scrub. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const chosen = v.object({
  /** Of the inbox; without, all that are marked as revoked. */
  secrets: v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(100))), v.minLength(1), v.maxLength(1_000))),
  /** Also in the logs at the assistants. */
  originals: v.optional(v.boolean()),
});

const sessions = v.optional(v.pipe(v.array(v.pipe(v.string(), v.maxLength(500))), v.minLength(1), v.maxLength(1_000)));

const state = defineRoute({
  method: "GET",
  path: "/security/scrub",
  summary: "How many secrets are marked as revoked, what was removed so far, and the copies of changed logs",
  handler: ({ kernel }) => kernel.inject("scrub").state(),
});

const plan = defineRoute({
  method: "POST",
  path: "/security/scrub/plan",
  summary: "Where revoked secrets are: what a scrub would replace; nothing is written",
  body: chosen,
  handler: ({ kernel, body: { secrets: ids, originals = false } }) =>
    kernel.inject("scrub").run({ ids, originals, write: false }),
});

const run = defineRoute({
  method: "POST",
  path: "/security/scrub",
  summary:
    "Removes revoked secrets from the archive, with `originals` also from the logs at the assistants; figures stay",
  body: chosen,
  handler: ({ kernel, body: { secrets: ids, originals = false } }) =>
    kernel.inject("scrub").run({ ids, originals, write: true }),
});

const undo = defineRoute({
  method: "POST",
  path: "/security/scrub/undo",
  summary:
    "Puts the logs at the assistants back that were changed, with `sessions` only theirs; the archive stays without the secrets",
  body: v.optional(v.object({ sessions })),
  handler: ({ kernel, body }) => kernel.inject("scrub").undo(body?.sessions),
});

const drop = defineRoute({
  method: "DELETE",
  path: "/security/scrub/backups",
  summary: "Removes the copies of changed logs, which still hold the secrets; they cannot be put back then",
  handler: async ({ kernel }) => ({ removed: await kernel.inject("scrub").dropBackups() }),
});

export const scrubRoutes = [state, plan, run, undo, drop] as const;
