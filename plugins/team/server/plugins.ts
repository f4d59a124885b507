/** Which built-in plugins the kernels of a server run, and what of them. */
import { type AnyRoute, type Plugin, VERSION } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import { loadPlugin, type PluginEntry } from "sessarc/serve";
import { teamSearch } from "../database/search.ts";
import { pushedAdapter } from "./ingest/adapters.ts";
import type { Facts, LogReader, ServerPlugins } from "./kernel-parts.ts";
import { createOffers, findOffer } from "./offers.ts";
import { createHistoryGate } from "./people/history.ts";
import { personRoutes } from "./people/plugin.ts";

/** What a pushed session is imported by. */
const INGEST = ["archive", "insights", "health", "git", "blame"];
/** What a person asks. */
const PERSON = ["archive", "insights", "health", "causality", "security", "git", "blame", "mcp-hub", "dashboard"];

/** Loads the plugins of `all` that a server needs. Those of the configuration are not among them: they were written for one machine. */
export async function serverPlugins(
  all: readonly (Plugin | PluginEntry)[],
  hasRepositories: boolean,
): Promise<ServerPlugins> {
  const entries = all.filter(
    (one): one is PluginEntry => "specifier" in one && one.specifier.startsWith("sessarc/plugins/"),
  );
  const named = (names: readonly string[]) =>
    names.flatMap((name) => entries.find(({ specifier }) => specifier === `sessarc/plugins/${name}`) ?? []);
  const used = named([...new Set([...INGEST, ...PERSON])]);
  const assistants: Facts[] = [];
  const readers = new Map<string, LogReader>();
  const migrations: { plugin: string; steps: readonly string[] }[] = [];
  const routes: AnyRoute[] = [...personRoutes];
  for (const entry of entries) {
    const isUsed = used.includes(entry);
    // Adapters have no commands; of the others only the used ones are loaded.
    if (!isUsed && (entry.commands?.length ?? 0) > 0) continue;
    const plugin = await loadPlugin(entry);
    if ("adapter" in plugin) {
      const adapter = plugin.adapter as Adapter;
      assistants.push(toFacts(adapter));
      if (adapter.parseLines) readers.set(adapter.name, { adapter, version: plugin.version ?? VERSION });
    }
    if (named(PERSON).includes(entry)) routes.push(...(plugin.routes ?? []));
    if (isUsed && plugin.migrations?.length) migrations.push({ plugin: plugin.name, steps: plugin.migrations });
  }
  const search = teamSearch();
  migrations.push({ plugin: search.name, steps: search.migrations ?? [] });
  const prepared = { ...search, migrations: [] };
  const gated = createHistoryGate();
  const offers = createOffers(routes);
  return {
    ingest: [
      ...named(INGEST).map((entry) => derived(entry, (plugin) => ({ ...plugin, migrations: [], commands: [] }))),
      prepared,
    ],
    person: [
      prepared,
      ...assistants.map((facts) => pushedAdapter(facts)),
      ...named(PERSON).map((entry) =>
        derived(withOffers(entry, offers.named(hasRepositories)), (plugin) => ({
          ...plugin,
          migrations: [],
          commands: [],
          // What is not offered is not there: a tool of an agent cannot reach it either.
          routes: (plugin.routes ?? [])
            .filter((route) => findOffer(route))
            .map((route) => (findOffer(route) === "repositories" ? gated(route) : route)),
        })),
      ),
    ],
    assistants,
    readers,
    offers,
    migrations,
  };
}

/** The dashboard leaves out what the server refuses. */
const withOffers = (entry: PluginEntry, offers: readonly string[]): PluginEntry =>
  entry.specifier === "sessarc/plugins/dashboard"
    ? { ...entry, options: Object.assign({}, entry.options, { offers }) }
    : entry;

function toFacts({ name, label, tools }: Adapter): Facts {
  return { name, label, ...(tools && { tools }) };
}

/** The same entry with another plugin: it stays a built-in one. The tables were made before the kernel starts. */
function derived(entry: PluginEntry, change: (plugin: Plugin) => Plugin): PluginEntry {
  return {
    specifier: entry.specifier,
    options: entry.options,
    load: async () => {
      const plugin = change(await loadPlugin(entry));
      return { default: () => plugin };
    },
  };
}
