/** `security` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

export const config = {
  security: {
    schema: v.strictObject({
      /** Rules added to the built-in ones. */
      rules: v.optional(v.array(v.unknown()), []),
      /** Added to the key `hosts`. */
      hosts: v.optional(v.array(v.string()), []),
      /** What the tool-call guard blocks: findings that are `definite`, or `probable` ones as well. */
      block: v.optional(v.picklist(["definite", "probable"]), "definite"),
    }),
    settings: { block: {} },
  },
} as const satisfies Record<string, ConfigKey>;

export type Block = "definite" | "probable";
