/** Skills of the store: list, detail, what the user says of them, end. */
import { defineRoute } from "sessarc";
import * as v from "valibot";

const tag = v.pipe(v.string(), v.trim(), v.nonEmpty("is empty"), v.maxLength(64, "is longer than 64 characters"));
const rating = v.pipe(
  v.number(),
  v.integer("is not a whole number"),
  v.minValue(0, "is below 0"),
  v.maxValue(5, "is above 5"),
);

const list = defineRoute({
  method: "GET",
  path: "/skills",
  summary: "Stored skills with their links, drift and use, and the assistants of this machine that read skills",
  handler: async ({ kernel }) => {
    const skills = kernel.inject("skills");
    return { skills: await skills.list(), tools: await skills.tools() };
  },
});

const get = defineRoute({
  method: "GET",
  path: "/skills/:id",
  summary: "One skill with its SKILL.md, its files and how sessions used it",
  handler: async ({ kernel, params }) => {
    const skill = await kernel.inject("skills").get(params.id);
    const { sessionUsage } = skill.use;
    return { ...skill, use: { ...skill.use, sessionCost: kernel.inject("archive").costOf(sessionUsage) } };
  },
});

const patch = defineRoute({
  method: "PATCH",
  path: "/skills/:id",
  summary: "Sets tags and rating",
  body: v.object({
    tags: v.optional(v.pipe(v.array(tag), v.maxLength(50, "are more than 50"))),
    rating: v.optional(rating),
  }),
  handler: ({ kernel, params, body }) => kernel.inject("skills").describe(params.id, body),
});

const remove = defineRoute({
  method: "DELETE",
  path: "/skills/:id",
  summary: "Unlinks and forgets a skill; ?removeFiles=1 also removes its files. Its snapshots can be restored",
  query: v.object({ removeFiles: v.optional(v.picklist(["0", "1"])) }),
  handler: ({ kernel, params, query }) => kernel.inject("skills").remove(params.id, query.removeFiles === "1"),
});

const usage = defineRoute({
  method: "GET",
  path: "/skills/usage",
  summary: "Which skills sessions used, which are installed and were not, which were asked for and are not installed",
  query: v.object({
    days: v.optional(
      v.pipe(v.string(), v.regex(/^\d+$/, "is not a number"), v.transform(Number), v.minValue(1), v.maxValue(3650)),
    ),
  }),
  handler: ({ kernel, query: { days } }) =>
    kernel.inject("skills").overview(days === undefined ? undefined : Date.now() - days * 86_400_000),
});

export const skillRoutes = [list, usage, get, patch, remove] as const;
