/** What services offer: their lists, asked for once and cached until the service reports a change; and the last known ones. */
import { type JsonRecord, toList, toRecord, toText } from "sessarc";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { checkDefinitions, type ToolChange } from "../policy/pins.ts";
import type { RegistryStore } from "../registry/store.ts";
import { LIST as SKILL_LIST, SKILLS } from "../skills/uris.ts";
import type { Caller, Slot, UpstreamPool } from "../upstream/pool.ts";
import { METHOD_NOT_FOUND } from "../upstream/rpc-error.ts";
import { checkItems, type ItemProblem, KINDS, type Kind } from "./definitions.ts";
import type { KnownLists, RawLists } from "./known-lists.ts";
import { hubName } from "./names.ts";

const LISTS: Record<Kind, { method: string; capability: string }> = {
  tools: { method: "tools/list", capability: "tools" },
  prompts: { method: "prompts/list", capability: "prompts" },
  resources: { method: "resources/list", capability: "resources" },
  resourceTemplates: { method: "resources/templates/list", capability: "resources" },
  skills: { method: SKILL_LIST, capability: "" },
};

export interface Listing {
  /** Valid definitions, each with a name or an address of its own, sorted by it. */
  items: Record<Kind, readonly JsonRecord[]>;
  /** Items that were repaired or left out. */
  problems: readonly ItemProblem[];
  /** Tools and prompts by the name the hub gives them. */
  byHubName: { tools: ReadonlyMap<string, JsonRecord>; prompts: ReadonlyMap<string, JsonRecord> };
  /** Tools that are held, by their own name. */
  changed: ReadonlyMap<string, ToolChange>;
  capabilities: JsonRecord;
  instructions: string | undefined;
}

/** A service inside this process. */
export interface LocalService {
  /** A client asks for its tools: calls will come. */
  warmUp(): void;
  listing(): { items: Omit<Record<Kind, readonly JsonRecord[]>, "skills">; instructions: string };
  request(method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
}

export interface Catalog {
  /** Throws when the service cannot be asked. Clients of one kind share one answer. */
  of(entry: ServiceEntry, caller: Caller): Promise<Listing>;
  /** The current lists, where they are cached: nothing is asked. */
  current(entry: ServiceEntry, caller: Caller): Listing | undefined;
  /** The last known lists, of this start or an earlier one, where possible for this kind of client. Asks nothing; they may be outdated. */
  last(entry: ServiceEntry, caller: Caller): Promise<Listing | undefined>;
  forget(service: string): void;
  /** Forgets the last known lists too. */
  remove(service: string): void;
}

/** A service that never ends its list is cut here. */
const MOST_PAGES = 100;
const MOST_ITEMS = 10_000;
/** For services that do not report when their lists change. */
const FRESH_MS = 5 * 60_000;

interface Row {
  at: number;
  announces: boolean;
  listing: Promise<Listing>;
  settled?: Listing;
}

export function createCatalog(
  pool: UpstreamPool,
  store: RegistryStore,
  local: LocalService,
  known: KnownLists,
): Catalog {
  const cached = new Map<string, Map<string, Row>>();

  async function ask(entry: ServiceEntry, caller: Caller): Promise<{ listing: Listing; announces: boolean }> {
    if (entry.id === BUILTIN_ID) {
      local.warmUp();
      return { announces: true, listing: localListing(entry, local) };
    }
    // Over a connection of the kind its calls will run over: some services offer more to clients that can be asked something.
    const interactive = Object.keys(caller.capabilities).length > 0;
    return pool.use(entry, caller, interactive, async (slot) => {
      const { capabilities, instructions, protocol } = slot.connection;
      const items: RawLists["items"] = emptyItems();
      for (const kind of KINDS)
        if (capabilities[LISTS[kind].capability]) items[kind] = await listAll(slot, entry, kind, {});
      const extensions = caller.skills && protocol === "modern" ? await readExtensions(slot, entry) : undefined;
      if (extensions?.[SKILLS]) items.skills = await listAll(slot, entry, "skills", DECLARED);
      const raw: RawLists = {
        items,
        capabilities: extensions ? { ...capabilities, extensions } : capabilities,
        instructions,
      };
      known.set(entry, clientKind(caller), raw);
      const announces = toRecord(capabilities.tools).listChanged === true && protocol === "legacy";
      return { announces, listing: await toListing(store, entry, raw) };
    });
  }

  const findRow = (entry: ServiceEntry, caller: Caller): Row | undefined => {
    const row = cached.get(entry.id)?.get(clientKind(caller));
    return row && (row.announces || performance.now() - row.at < FRESH_MS) ? row : undefined;
  };

  return {
    of(entry, caller) {
      const cachedRow = findRow(entry, caller);
      if (cachedRow) return cachedRow.listing;
      const service = cached.get(entry.id) ?? new Map<string, Row>();
      cached.set(entry.id, service);
      const kind = clientKind(caller);
      const asked = ask(entry, caller);
      const row: Row = { at: performance.now(), announces: false, listing: asked.then(({ listing }) => listing) };
      service.set(kind, row);
      asked.then(
        ({ announces, listing }) => {
          row.announces = announces;
          row.settled = listing;
        },
        () => service.get(kind) === row && service.delete(kind),
      );
      return row.listing;
    },
    current: (entry, caller) => findRow(entry, caller)?.settled,
    async last(entry, caller) {
      if (entry.id === BUILTIN_ID) return localListing(entry, local);
      const current = findRow(entry, caller)?.settled;
      if (current) return current;
      const lists = await known.of(entry);
      const raw = lists.get(clientKind(caller)) ?? [...lists.values()].at(-1);
      return raw && toListing(store, entry, raw);
    },
    forget: (service) => void cached.delete(service),
    remove(service) {
      cached.delete(service);
      known.remove(service);
    },
  };
}

const clientKind = ({ protocol, capabilities, skills }: Caller) =>
  `${protocol} ${Object.keys(capabilities).sort().join()}${skills ? " skills" : ""}`;
const emptyItems = (): Record<Kind, readonly JsonRecord[]> => ({
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  skills: [],
});

/** What a client says of itself that knows the skills extension. */
export const DECLARED: JsonRecord = {
  _meta: { "io.modelcontextprotocol/clientCapabilities": { extensions: { [SKILLS]: {} } } },
};

/** The extensions a service has for a client that declares them: some offer them to no other. */
async function readExtensions(slot: Slot, entry: ServiceEntry): Promise<JsonRecord> {
  const options = { signal: NEVER, timeoutMs: entry.timeoutMs };
  const found = await slot.connection.request("server/discover", DECLARED, options);
  return toRecord(toRecord(found.capabilities).extensions);
}

/** All pages of a list, as the service answered them. */
async function listAll(slot: Slot, entry: ServiceEntry, kind: Kind, params: JsonRecord): Promise<unknown[]> {
  const items: unknown[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MOST_PAGES && items.length < MOST_ITEMS; page++) {
    const options = { signal: NEVER, timeoutMs: entry.timeoutMs };
    const asked = cursor === undefined ? params : { ...params, cursor };
    const answer = await slot.connection
      .request(LISTS[kind].method, asked, options)
      .catch((error: { code?: unknown }) => {
        // Templates are optional for those that have resources.
        if (error.code === METHOD_NOT_FOUND) return {} as JsonRecord;
        throw error;
      });
    for (const item of toList(answer[kind])) items.push(item);
    cursor = toText(answer.nextCursor);
    if (cursor === undefined) break;
  }
  return items.slice(0, MOST_ITEMS);
}

const NEVER = new AbortController().signal;

function localListing(entry: ServiceEntry, local: LocalService): Listing {
  const { items, instructions } = local.listing();
  const byHubName = { tools: named(entry, items.tools), prompts: named(entry, items.prompts) };
  return {
    items: { ...items, skills: [] },
    problems: [],
    byHubName,
    changed: new Map(),
    capabilities: {},
    instructions,
  };
}

async function toListing(store: RegistryStore, entry: ServiceEntry, raw: RawLists): Promise<Listing> {
  const { capabilities, instructions } = raw;
  const items = emptyItems();
  const problems: ItemProblem[] = [];
  for (const kind of KINDS) {
    const checked = await checkItems(kind, raw.items[kind]);
    items[kind] = checked.items;
    problems.push(...checked.problems);
  }
  // As the service wrote them: a repair must not look like a change.
  const changed = await checkDefinitions(store, entry, firstOfEach(raw.items.tools));
  const byHubName = { tools: named(entry, items.tools), prompts: named(entry, items.prompts) };
  for (const kind of ["tools", "prompts"] as const) {
    const listed = [...byHubName[kind].values()];
    for (const item of items[kind])
      if (!listed.includes(item))
        problems.push({
          kind,
          name: String(item.name),
          leftOut: true,
          reason: "another item has the same name in the hub",
        });
    // Two of one name end the whole session of some clients.
    items[kind] = listed;
  }
  return { items, problems, byHubName, changed, capabilities, instructions };
}

function firstOfEach(tools: readonly unknown[]): JsonRecord[] {
  const first = new Map<string, JsonRecord>();
  for (const tool of tools) {
    const name = toText(toRecord(tool).name);
    if (name !== undefined && !first.has(name)) first.set(name, toRecord(tool));
  }
  return [...first.values()];
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
