/** Adapters of another version that read a log another way. */

import type { SessionEvent, SessionSummary, UsageEntry } from "sessarc";
import type { Adapter, AdapterPlugin } from "sessarc/adapter";
import type { PluginEntry } from "sessarc/serve";
import { defaultPlugins } from "../../plugins/index.ts";

export interface Reading {
  event?(event: SessionEvent): SessionEvent;
  /** Undefined: as the log says. */
  reply?(reply: UsageEntry): UsageEntry;
}

/** `plugin` as its version `version` was, which read each message and reply as `reading` says. */
export function asVersion(plugin: AdapterPlugin, version: string, reading: Reading = {}): AdapterPlugin {
  const { adapter } = plugin;
  const { event = (same) => same, reply } = reading;
  const toSummary = (summary: SessionSummary): SessionSummary => {
    if (!reply) return summary;
    const replies = (summary.replies ?? []).map(reply);
    const usage: SessionSummary["usage"] = {};
    const slots: NonNullable<SessionSummary["slots"]> = {};
    for (const { at = "", model, usage: tokens, inherited } of replies) {
      if (inherited) continue;
      const slot = `${at.slice(0, 14)}${String(Math.floor(Number(at.slice(14, 16)) / 15) * 15).padStart(2, "0")}`;
      slots[slot] ??= {};
      for (const sums of [usage, slots[slot]]) {
        sums[model] ??= { input: 0, output: 0, cacheWrite5m: 0, cacheWrite1h: 0, cacheRead: 0 };
        for (const field of ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const)
          sums[model][field] += tokens[field];
      }
    }
    return { ...summary, replies, usage, slots };
  };
  async function* read(batches: AsyncGenerator<SessionEvent[], SessionSummary>) {
    for (;;) {
      const step = await batches.next();
      if (step.done) return toSummary(step.value);
      yield step.value.map(event);
    }
  }
  const other: Adapter = {
    ...adapter,
    read: (ref, env) => read(adapter.read(ref, env)),
    async *readMany(refs, env) {
      for (const ref of refs) yield [ref, read(adapter.read(ref, env))];
    },
    async *tail(ref, cursor, env) {
      const batches = adapter.tail(ref, cursor, env);
      for (;;) {
        const step = await batches.next();
        if (step.done) return { ...step.value, summary: toSummary(step.value.summary) };
        yield step.value.map(event);
      }
    },
    ...(adapter.parseLines && {
      parseLines: (ref, lines, env) => read(adapter.parseLines?.(ref, lines, env) as ReturnType<Adapter["read"]>),
    }),
    at: () => other,
  };
  delete other.usage;
  return { ...plugin, adapter: other, version };
}

/** The built-in plugins, with other ones of these names. */
export const withAdapters = (others: Readonly<Record<string, AdapterPlugin>>): PluginEntry[] =>
  defaultPlugins().map((entry) => {
    const other = others[entry.specifier.split("/").at(-1) ?? ""];
    // Relatives of an assistant are the same module with options.
    return other && entry.options === undefined ? { ...entry, load: async () => ({ default: () => other }) } : entry;
  });
