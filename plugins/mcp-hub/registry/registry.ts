/** The services: stored sealed, in clear in memory once they are read. Storing one starts nothing. */
import { createQueue, SessarcError } from "sessarc";
import {
  BUILTIN_ID,
  emptyEntry,
  type ServiceEntry,
  type ServiceInput,
  type ServicePatch,
  type ServiceSource,
  toSlug,
} from "../entry.ts";
import { unmaskPatch } from "../vault/mask.ts";
import type { Vault } from "../vault/seal.ts";
import { findProblem } from "./problem.ts";
import type { RegistryStore } from "./store.ts";

export interface Registry {
  /** All, by id; the built-in one among them. */
  list(): Promise<readonly ServiceEntry[]>;
  /** Throws SERVICE_NOT_FOUND. */
  get(id: string): Promise<ServiceEntry>;
  /** A new service, or a change of the one with this id (or, without an id, of this name). */
  put(input: ServiceInput, sources?: readonly ServiceSource[]): Promise<{ entry: ServiceEntry; created: boolean }>;
  update(id: string, patch: ServicePatch): Promise<ServiceEntry>;
  /** Says where an entry came from, or that it no longer does. */
  setSources(id: string, sources: readonly ServiceSource[]): Promise<ServiceEntry>;
  remove(id: string): Promise<void>;
  /** Counts changes. */
  readonly generation: number;
}

/** What may be changed of the built-in service. */
const BUILTIN_FIELDS = ["enabled", "scope", "policy", "timeoutMs"] as const satisfies readonly (keyof ServicePatch)[];

/** `changed` is called after each change is on disk; `isHere`: the address is that of this hub. */
export function createServices(
  store: RegistryStore,
  vault: Vault,
  changed: (id: string) => Promise<void>,
  isHere: (url: string) => boolean,
): Registry {
  let loading: Promise<Map<string, ServiceEntry>> | undefined;
  let generation = 0;
  /** By id; rebuilt after a change. Every call reads it. */
  let sorted: readonly ServiceEntry[] | undefined;
  /** Changes run sequentially, so that none overwrites what another just wrote. */
  const inOrder = createQueue();

  const all = () => {
    loading ??= load().catch((error) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };

  async function load(): Promise<Map<string, ServiceEntry>> {
    const entries = new Map([[BUILTIN_ID, await loadBuiltin()]]);
    for (const { id, sealed } of await store.services()) {
      const at = new Date(0).toISOString();
      entries.set(id, { ...emptyEntry(id, at), ...((await vault.open(id, sealed)) as ServiceEntry) });
    }
    return entries;
  }

  async function loadBuiltin(): Promise<ServiceEntry> {
    const row = await store.builtin(BUILTIN_ID);
    const saved = row ? (JSON.parse(row.data) as Pick<ServiceEntry, (typeof BUILTIN_FIELDS)[number]>) : {};
    return { ...emptyEntry(BUILTIN_ID, new Date(0).toISOString()), name: "Session archive", ...saved };
  }

  async function find(id: string): Promise<ServiceEntry> {
    const entry = (await all()).get(id);
    if (!entry) throw new SessarcError("SERVICE_NOT_FOUND", { id });
    return entry;
  }

  async function write(entry: ServiceEntry): Promise<ServiceEntry> {
    if (entry.id === BUILTIN_ID) {
      const { enabled, scope, policy, timeoutMs } = entry;
      await store.putBuiltin(entry.id, JSON.stringify({ enabled, scope, policy, timeoutMs }));
    } else await store.put(entry.id, await vault.seal(entry.id, entry));
    (await all()).set(entry.id, entry);
    sorted = undefined;
    generation++;
    await changed(entry.id);
    return entry;
  }

  async function change(before: ServiceEntry, patch: ServicePatch): Promise<ServiceEntry> {
    if (before.id === BUILTIN_ID && Object.keys(patch).some((key) => !BUILTIN_FIELDS.some((field) => field === key)))
      throw new SessarcError("SERVICE_BUILT_IN", { id: before.id });
    const entry = { ...before, ...defined(unmaskPatch(before, patch)), updatedAt: new Date().toISOString() };
    if (patch.transport === undefined) entry.transport = toTransport(before, patch);
    check(entry, isHere);
    return write(entry);
  }

  return {
    async list() {
      const entries = await all();
      sorted ??= [...entries.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
      return sorted;
    },
    get: find,
    put: (input, sources) =>
      inOrder(async () => {
        const { id: asked, ...fields } = input;
        const entries = await all();
        const id = asked ?? [...entries.values()].find(({ name }) => name === fields.name)?.id;
        const known = id === undefined ? undefined : entries.get(id);
        if (known) return { entry: await change(known, fields), created: false };
        const fresh = emptyEntry(id ?? freeSlug(fields.name ?? "service", entries), new Date().toISOString());
        const own = defined(unmaskPatch(fresh, fields));
        const entry = { ...fresh, name: fields.name ?? fresh.id, ...own, sources: [...(sources ?? [])] };
        if (fields.transport === undefined) entry.transport = toTransport(fresh, fields);
        check(entry, isHere);
        return { entry: await write(entry), created: true };
      }),
    update: (id, patch) => inOrder(async () => change(await find(id), patch)),
    setSources: (id, sources) => inOrder(async () => write({ ...(await find(id)), sources: [...sources] })),
    remove: (id) =>
      inOrder(async () => {
        if (id === BUILTIN_ID) throw new SessarcError("SERVICE_BUILT_IN", { id });
        await find(id);
        await store.remove(id);
        (await all()).delete(id);
        sorted = undefined;
        generation++;
        await changed(id);
      }),
    get generation() {
      return generation;
    },
  };
}

/** A new command or address says what kind of service it is, where nothing else does. */
function toTransport(before: ServiceEntry, patch: ServicePatch): ServiceEntry["transport"] {
  if (patch.command) return "stdio";
  if (patch.url && before.transport === "stdio") return "http";
  return before.transport;
}

function check(entry: ServiceEntry, isHere: (url: string) => boolean): void {
  // It would ask itself what it offers, and wait for the answer.
  const problem =
    findProblem(entry) ?? (isHere(entry.url ?? "") ? "its address is that of this hub itself" : undefined);
  if (problem) throw new SessarcError("SERVICE_INVALID", { id: entry.id, reason: problem });
}

function freeSlug(name: string, taken: ReadonlyMap<string, unknown>): string {
  const slug = toSlug(name);
  if (!taken.has(slug)) return slug;
  for (let n = 2; ; n++) {
    const next = `${slug.slice(0, 20 - String(n).length - 1).replace(/-+$/, "")}-${n}`;
    if (!taken.has(next)) return next;
  }
}

function defined<T extends object>(value: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };
}
