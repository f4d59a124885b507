/** `metrics` of the configuration. */
import type { ConfigKey } from "sessarc";
import { collectorAt } from "sessarc/serve";
import * as v from "valibot";

const address = v.pipe(
  v.string(),
  v.check(
    (text) => text === "" || typeof collectorAt(text) !== "string",
    "is not an http or https address without a password",
  ),
);

export const config = {
  metrics: {
    schema: v.strictObject({
      /** The collector of OpenTelemetry that token counts are sent to; `""`: none. */
      otlp: v.optional(address, ""),
      /** Minutes between two sends. */
      minutes: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_440)), 15),
    }),
    settings: { otlp: { shown: withoutQuery } },
  },
} as const satisfies Record<string, ConfigKey>;

/** A query may hold a token. */
export function withoutQuery(address: string): string {
  if (!URL.canParse(address)) return address;
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}
