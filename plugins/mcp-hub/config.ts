/** `mcp` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

const schema = v.strictObject({
  /** Clients see `find_tools` and `call_tool` instead of all tools. */
  toolSearch: v.optional(v.boolean(), false),
  /** A connection that nobody used for so many minutes is ended, and its process with it. */
  idleMinutes: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(10_000)), 15),
});

export type HubSettings = v.InferOutput<typeof schema>;

export const config = { mcp: { schema, settings: { toolSearch: {} } } } as const satisfies Record<string, ConfigKey>;
