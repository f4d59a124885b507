/** What services offer: their lists, asked for once and kept until they say that something changed. */
import { type JsonRecord, toList, toRecord, toText } from "sessarc";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { checkDefinitions, type ToolChange } from "../policy/pins.ts";
import type { RegistryStore } from "../registry/store.ts";
import type { Caller, Slot, UpstreamPool } from "../upstream/pool.ts";
import { METHOD_NOT_FOUND } from "../upstream/rpc-error.ts";
import { hubName } from "./names.ts";

export type Kind = "tools" | "prompts" | "resources" | "resourceTemplates";
export const KINDS: readonly Kind[] = ["tools", "prompts", "resources", "resourceTemplates"];

const LISTS: Record<Kind, { method: string; capability: string }> = {
  tools: { method: "tools/list", capability: "tools" },
  prompts: { method: "prompts/list", capability: "prompts" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
};

export interface Listing {
  /** Definitions as the service gave them, each with a name or an address of its own, by that. */
  items: Record<Kind, readonly JsonRecord[]>;
  /** Tools and prompts by the name the hub gives them. */
  byHubName: { tools: ReadonlyMap<string, JsonRecord>; prompts: ReadonlyMap<string, JsonRecord> };
  /** Tools that are held, by their own name. */
  changed: ReadonlyMap<string, ToolChange>;
  capabilities: JsonRecord;
  instructions: string | undefined;
}

/** A service inside this process. */
export interface LocalService {
  listing(): { items: Record<Kind, readonly JsonRecord[]>; instructions: string };
  request(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
}

export interface Catalog {
  /** Throws when the service cannot be asked. What clients of one kind are offered is asked once. */
  of(entry: ServiceEntry, caller: Caller): Promise<Listing>;
  /** What is known without asking: how many tools, of whatever kind of client. */
  known(service: string): number | null;
  forget(service: string): void;
}

/** A service that never ends its list is cut here. */
const MOST_PAGES = 100;
const MOST_ITEMS = 10_000;
/** For services that do not say when their lists change. */
const FRESH_MS = 5 * 60_000;

export function createCatalog(pool: UpstreamPool, store: RegistryStore, local: LocalService): Catalog {
  const kept = new Map<string, Map<string, { at: number; announces: boolean; listing: Promise<Listing> }>>();
  const counts = new Map<string, number>();

  async function ask(entry: ServiceEntry, caller: Caller): Promise<{ listing: Listing; announces: boolean }> {
    if (entry.id === BUILTIN_ID) {
      const { items, instructions } = local.listing();
      return { announces: true, listing: toListing(entry, items, new Map(), {}, instructions) };
    }
    // Over a connection of the kind its calls will run over: some services offer more to clients that can be asked something.
    const interactive = Object.keys(caller.capabilities).length > 0;
    return pool.use(entry, caller, interactive, async (slot) => {
      const { capabilities, instructions } = slot.connection;
      const items = { tools: [], prompts: [], resources: [], resourceTemplates: [] } as Record<
        Kind,
        readonly JsonRecord[]
      >;
      for (const kind of KINDS)
        if (capabilities[LISTS[kind].capability]) items[kind] = await listAll(slot, entry, kind);
      const changed = await checkDefinitions(store, entry, items.tools);
      counts.set(entry.id, items.tools.length);
      const announces = toRecord(capabilities.tools).listChanged === true && slot.connection.era === "legacy";
      return { announces, listing: toListing(entry, items, changed, capabilities, instructions) };
    });
  }

  return {
    of(entry, caller) {
      const service = kept.get(entry.id) ?? new Map();
      kept.set(entry.id, service);
      const kind = `${caller.era} ${Object.keys(caller.capabilities).sort().join()}`;
      const known = service.get(kind);
      if (known && (known.announces || performance.now() - known.at < FRESH_MS)) return known.listing;
      const asked = ask(entry, caller);
      const row = { at: performance.now(), announces: false, listing: asked.then(({ listing }) => listing) };
      service.set(kind, row);
      asked.then(
        ({ announces }) => {
          row.announces = announces;
        },
        () => service.get(kind) === row && service.delete(kind),
      );
      return row.listing;
    },
    known: (service) => (service === BUILTIN_ID ? local.listing().items.tools.length : (counts.get(service) ?? null)),
    forget: (service) => void kept.delete(service),
  };
}

async function listAll(slot: Slot, entry: ServiceEntry, kind: Kind): Promise<JsonRecord[]> {
  const key =
    kind === "resources" || kind === "resourceTemplates" ? (kind === "resources" ? "uri" : "uriTemplate") : "name";
  const found = new Map<string, JsonRecord>();
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && found.size < MOST_ITEMS; page++) {
    const options = { signal: NEVER, timeoutMs: entry.timeoutMs };
    const params = cursor === undefined ? {} : { cursor };
    const answer = await slot.connection
      .request(LISTS[kind].method, params, options)
      .catch((error: { code?: unknown }) => {
        // Templates are optional for those that have resources.
        if (error.code === METHOD_NOT_FOUND) return {} as JsonRecord;
        throw error;
      });
    for (const item of toList(answer[kind])) {
      const name = toText(toRecord(item)[key]);
      // The first of two with one name is the one; without a name it cannot be called.
      if (name !== undefined && !found.has(name)) found.set(name, toRecord(item));
    }
    cursor = toText(answer.nextCursor);
    if (cursor === undefined) break;
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, item]) => item);
}

const NEVER = new AbortController().signal;

function toListing(
  entry: ServiceEntry,
  items: Record<Kind, readonly JsonRecord[]>,
  changed: ReadonlyMap<string, ToolChange>,
  capabilities: JsonRecord,
  instructions: string | undefined,
): Listing {
  const tools = named(entry, items.tools);
  const prompts = named(entry, items.prompts);
  return {
    // What lost its name to another one is not offered: two of one name end the whole session of some clients.
    items: { ...items, tools: [...tools.values()], prompts: [...prompts.values()] },
    changed,
    capabilities,
    instructions,
    byHubName: { tools, prompts },
  };
}

/** By the name the hub gives them, in the order of their own names. Of two that come to one name, the one whose own name it is, or the first. */
function named(entry: ServiceEntry, list: readonly JsonRecord[]): Map<string, JsonRecord> {
  const byName = new Map<string, JsonRecord>();
  for (const item of list) {
    const own = String(item.name);
    const name = hubName(entry.id, own);
    if (!byName.has(name) || name.endsWith(`__${own}`)) byName.set(name, item);
  }
  return byName;
}
