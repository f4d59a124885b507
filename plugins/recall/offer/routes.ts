/** Routes of what hooks offer: installing them, and what was offered. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import type { Offered } from "./schema.ts";

const KINDS = ["start", "command", "file"] as const;
const name = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, "is not the name of an assistant"));

const log = defineRoute({
  method: "GET",
  path: "/recall/log",
  summary: "Lines that hooks offered to assistants, newest first, and whether they were used",
  query: v.object({
    limit: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,4}$/, "must be a whole number"),
        v.transform(Number),
        v.minValue(1),
        v.maxValue(1_000),
      ),
    ),
  }),
  handler: async ({ kernel, query }): Promise<{ offered: Offered[] }> => ({
    offered: await kernel.inject("offers").log(query.limit ?? 100),
  }),
});

const install = defineRoute({
  method: "POST",
  path: "/recall/install",
  summary: "Installs the hooks that offer lines to an assistant, in its settings, which are backed up first",
  body: v.object({
    tool: v.optional(name),
    /** What is not offered. */
    without: v.optional(v.pipe(v.array(v.picklist(KINDS)), v.maxLength(2, "leaves nothing: uninstall it instead")), []),
    dryRun: v.optional(v.boolean()),
  }),
  handler: async ({ kernel, body }) => {
    const offers = KINDS.filter((one) => !body.without.includes(one));
    const { removed: _, restored: __, ...answer } = await kernel.inject("guard").offer(body.tool, offers, body);
    kernel.inject("offers").refresh();
    return answer;
  },
});

const uninstall = defineRoute({
  method: "DELETE",
  path: "/recall/install",
  summary: "Removes exactly what installing added; the guard remains where it is installed",
  query: v.object({ tool: v.optional(name) }),
  handler: async ({ kernel, query }) => {
    const { removed, restored, settingsPath } = await kernel.inject("guard").offer(query.tool, []);
    return { removed, restored, settingsPath };
  },
});

export const offerRoutes = [log, install, uninstall] as const;
