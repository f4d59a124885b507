/** `mcp` of the configuration. */
import type { ConfigKey } from "sessarc";
import * as v from "valibot";

/** A group of tools for some clients, who see it instead of every tool of the hub. */
const profile = v.strictObject({
  /** Clients that get it without asking: names as in `?client=`, or as they name themselves. Any client gets it with `?profile=<name>`. */
  clients: v.optional(v.array(v.string()), []),
  /** Patterns of `<service>__<tool>`, with the service's own name of the tool. */
  tools: v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(300))),
  /** Beside them `find_tools` and `call_tool`, which reach all the others. */
  search: v.optional(v.boolean(), false),
});

const schema = v.strictObject({
  /** Clients see `find_tools` and `call_tool` instead of all tools. */
  toolSearch: v.optional(v.boolean(), false),
  /** A connection that is unused for this many minutes is ended, and its process with it. */
  idleMinutes: v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(10_000)), 15),
  profiles: v.optional(
    v.record(
      v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, "is not a name of lower-case letters, digits and -")),
      profile,
    ),
    {},
  ),
});

export type HubSettings = v.InferOutput<typeof schema>;
/** As the configuration file has it. */
export type HubConfig = v.InferInput<typeof schema>;

export const config = { mcp: { schema, settings: { toolSearch: {} } } } as const satisfies Record<string, ConfigKey>;
