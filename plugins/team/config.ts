/** `team` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

export const config = {
  team: {
    schema: v.strictObject({
      /** Whether the running service pushes what changed in chosen projects. */
      push: v.optional(v.picklist(["manual", "background"]), "manual"),
    }),
    settings: { push: {} },
  },
} as const satisfies Record<string, ConfigKey>;

export type PushMode = "manual" | "background";
