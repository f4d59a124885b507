/** From what an author writes to an adapter. */
import type { Adapter, AdapterDefinition } from "../contract/adapter.ts";
import type { AdapterPlugin, PluginFactory } from "../contract/plugin.ts";
import { readEventBatches, readParsed } from "./read-log.ts";
import { tailBatches, tailParsed } from "./tail-log.ts";

/**
 * Makes an adapter plugin. `def` gets the options the user gave; the plugin is named `adapter:<name>`.
 *
 * Cost: none at import time; nothing runs before the kernel asks.
 */
export function defineAdapter<O = void>(def: (options: O) => AdapterDefinition): PluginFactory<O, AdapterPlugin> {
  return ((options: O): AdapterPlugin => {
    const { version, compatibility, ...own } = def(options);
    const adapter = toAdapter(own);
    // Options are an object or nothing: an adapter without options gets one it does not look at.
    adapter.at ??= (dir) => toAdapter(def({ ...options, dir }));
    return {
      name: `adapter:${adapter.name}`,
      adapter,
      ...(version && { version }),
      ...(compatibility && { compatibility }),
    };
  }) as PluginFactory<O, AdapterPlugin>;
}

function toAdapter(def: AdapterDefinition): Adapter {
  if ("read" in def) return def;
  const { lines, ...rest } = def;
  // Whoever writes JavaScript is told by nobody else.
  if (typeof lines !== "function") throw new TypeError(`the adapter "${def.name}" has neither \`read\` nor \`lines\``);
  return {
    ...rest,
    read: (ref, env) => readParsed(ref, lines(ref, env)),
    readBatches: (ref, env) => readEventBatches(ref, lines(ref, env)),
    tail: (ref, cursor, env) => tailParsed(ref, cursor, (state) => lines(ref, env, state)),
    tailBatches: (ref, cursor, env) => tailBatches(ref, cursor, (state) => lines(ref, env, state)),
  };
}
