/** The key `logs` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

export type LogsSetting = "keep" | "none";

export const config = {
  rescue: {
    schema: v.strictObject({
      /** Whether the raw log of each session is stored beside its transcript. */
      logs: v.optional(v.picklist(["keep", "none"]), "keep"),
    }),
    settings: { logs: {} },
  },
} as const satisfies Record<string, ConfigKey>;
