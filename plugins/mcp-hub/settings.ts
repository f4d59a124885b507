/** What the configuration says of the hub: `mcp: { toolSearch: true, idleMinutes: 5 }`. */
import * as v from "valibot";

const schema = v.object({
  /** Clients see `find_tools` and `call_tool` instead of all tools. */
  toolSearch: v.fallback(v.optional(v.boolean(), false), false),
  /** A connection that nobody used for so long is ended, and its process with it. */
  idleMinutes: v.fallback(v.optional(v.pipe(v.number(), v.minValue(0.01), v.maxValue(10_000)), 15), 15),
});
export type HubSettings = v.InferOutput<typeof schema>;

/** A value that makes no sense counts as not given. Asked with every request: read once for each object, of which a change makes another. */
export function readSettings(config: Readonly<Record<string, unknown>>): HubSettings {
  const settings = known.get(config) ?? v.parse(schema, config);
  known.set(config, settings);
  return settings;
}
const known = new WeakMap<object, HubSettings>();
