/** `feedback` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

const address = v.pipe(v.string(), v.url("is not a URL"), v.regex(/^https?:/i, "is no http or https address"));

export const config = {
  feedback: {
    schema: v.strictObject({
      /** Where feedback is sent on to; `""` and null: nowhere. */
      relay: v.optional(v.nullable(v.union([v.literal(""), address], "is no http or https address")), null),
    }),
    settings: { relay: { shown: withoutCredentials } },
  },
} as const satisfies Record<string, ConfigKey>;

/** An address may hold a password, or a token in its query. */
export function withoutCredentials(address: string): string {
  if (!URL.canParse(address)) return address;
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}
