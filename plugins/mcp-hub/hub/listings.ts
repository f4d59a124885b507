/**
 * What a view shows: the lists of every service in it, in one order, each name once. A service that is slow or hangs does not hold up the
 * others: its last known lists are answered, and clients are notified when it is up.
 */
import { isSessarcError, type JsonRecord } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import { decideService, decideTool } from "../policy/policy.ts";
import type { Registry } from "../registry/registry.ts";
import { toHubUri } from "../skills/uris.ts";
import type { Caller } from "../upstream/pool.ts";
import { toMessage } from "../upstream/rpc-error.ts";
import type { Catalog, Listing } from "./catalog.ts";
import type { Kind } from "./definitions.ts";
import { hubName } from "./names.ts";
import type { View } from "./view.ts";

export interface ListedService {
  entry: ServiceEntry;
  listing: Listing;
}

/** How long the first list waits for a service of which nothing is known. */
const FIRST_MS = 8_000;
/** How long a list waits for a running service whose last lists are known. */
const REFRESH_MS = 1_000;
/** A service that did not answer is asked again in the background: after this long, and twice as long each time. */
const RETRY_MS = 30_000;
const MOST_RETRY_MS = 10 * 60_000;
/** For questions of the hub itself: it can be asked nothing. */
const BACKGROUND: Caller = { session: "hub", protocol: "legacy", capabilities: {}, tell: () => {} };

export interface Listings {
  /** Services of the view whose lists are known, by id; the others with what went wrong. */
  services(view: View, caller: Caller): Promise<{ listed: ListedService[]; failed: Record<string, string> }>;
  /** Items of a list as the client sees them. */
  list(view: View, caller: Caller, kind: Kind): Promise<JsonRecord[]>;
  /** A service was changed or removed: nothing is known of how fast it answers. */
  forget(service: string): void;
  close(): void;
}

interface ListingsParts {
  registry: Registry;
  catalog: Catalog;
  /** Whether a connection to the service is open. */
  isOpen(service: string): boolean;
  /** The lists of a service arrived, or differ from those that were answered. */
  changed(service: string): void;
}

export function createListings({ registry, catalog, isOpen, changed }: ListingsParts): Listings {
  /** Services that did not answer in time: lists no longer wait for them. */
  const late = new Map<string, { retries: number; timer: NodeJS.Timeout | undefined }>();

  async function one(entry: ServiceEntry, caller: Caller, alone: boolean): Promise<Listing> {
    const asked = catalog.of(entry, caller);
    // Handled where it is awaited; a client that does not wait any more needs no failure.
    asked.catch(ignore);
    const current = catalog.current(entry, caller);
    if (current) return current;
    const last = await catalog.last(entry, caller);
    if (last) {
      const fresh = await within(asked, isOpen(entry.id) && !late.has(entry.id) ? REFRESH_MS : 0).catch(ignore);
      if (fresh) return fresh;
      follow(entry.id, asked, (listing) => !sameItems(listing, last));
      return last;
    }
    if (alone) return asked;
    const isLate = late.has(entry.id);
    const listing = await within(asked, isLate ? 0 : FIRST_MS);
    if (listing) return listing;
    if (!isLate) follow(entry.id, asked, () => true);
    throw new Error("it has not answered so far; its tools are added when it does");
  }

  /** Lists no longer wait for this service. Notifies clients of what is new when it answers; asks it again when it fails. */
  function follow(service: string, asked: Promise<Listing>, isNew: (listing: Listing) => boolean): void {
    if (!late.has(service)) late.set(service, { retries: 0, timer: undefined });
    const arrived = (listing: Listing) => {
      clearTimeout(late.get(service)?.timer);
      late.delete(service);
      if (isNew(listing)) changed(service);
    };
    asked.then(arrived, () => retryLater(service));
  }

  function retryLater(service: string): void {
    const row = late.get(service);
    if (!row) return;
    clearTimeout(row.timer);
    row.timer = setTimeout(
      () => void retry(service).catch(ignore),
      Math.min(RETRY_MS * 2 ** row.retries++, MOST_RETRY_MS),
    );
    row.timer.unref();
  }

  async function retry(service: string): Promise<void> {
    const entry = (await registry.list()).find(({ id }) => id === service);
    if (entry?.enabled && late.has(service)) follow(service, catalog.of(entry, BACKGROUND), () => true);
  }

  async function services(view: View, caller: Caller) {
    const all = await registry.list();
    const entries = all.filter(
      (entry) => (view.service === null || view.service === entry.id) && decideService(entry, view.context).allowed,
    );
    const listed: ListedService[] = [];
    const failed: Record<string, string> = {};
    await Promise.all(
      entries.map(async (entry) => {
        try {
          listed.push({ entry, listing: await one(entry, caller, view.service !== null) });
        } catch (error) {
          if (view.service !== null) throw error;
          failed[entry.id] = isSessarcError(error) ? error.message : toMessage(error);
        }
      }),
    );
    return { listed: listed.sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1)), failed };
  }

  return {
    services,
    async list(view, caller, kind) {
      const { listed } = await services(view, caller);
      const taken = new Set<string>();
      return listed.flatMap((it) => toItems(it, view, kind, taken));
    },
    forget(service) {
      clearTimeout(late.get(service)?.timer);
      late.delete(service);
    },
    close() {
      for (const { timer } of late.values()) clearTimeout(timer);
      late.clear();
    },
  };
}

/** Undefined when it takes longer. */
async function within<T>(asked: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([asked, limit]).finally(() => clearTimeout(timer));
}

const sameItems = (one: Listing, other: Listing) => JSON.stringify(one.items) === JSON.stringify(other.items);

/** Reported by the list that waits for it, and by the state of the service. */
const ignore = () => undefined;

function toItems({ entry, listing }: ListedService, view: View, kind: Kind, taken: Set<string>): JsonRecord[] {
  const items = listing.items[kind];
  if (kind === "tools") {
    const allowed = items.filter(
      ({ name }) => decideTool(entry, view.context, String(name), listing.changed.has(String(name))).allowed,
    );
    return allowed.map((tool) => shownTool(entry, tool, view));
  }
  if (view.service !== null) return [...items];
  if (kind === "prompts") return items.map((prompt) => ({ ...prompt, name: hubName(entry.id, String(prompt.name)) }));
  const key = kind === "resources" ? "uri" : "uriTemplate";
  return items.map((item) => {
    const uri = String(item[key]);
    // One name space for skills: as `skills/list` has them.
    const named = view.skills && uri.startsWith("skill://") ? toHubUri(entry.id, uri) : undefined;
    if (named !== undefined) return { ...item, [key]: named };
    // Where two services have one address, the later one's gets a prefix; `resources.ts` removes it.
    const shown = taken.has(uri) ? ownUri(entry.id, uri) : uri;
    taken.add(uri);
    return shown === uri ? item : { ...item, [key]: shown };
  });
}

/** A tool as a client sees it: with the name, title and description the hub gives it. */
export function shownTool(entry: ServiceEntry, tool: JsonRecord, view: View): JsonRecord {
  const name = String(tool.name);
  const own = Object.hasOwn(entry.policy.tools, name) ? entry.policy.tools[name] : undefined;
  return {
    ...tool,
    ...(own?.title === undefined ? {} : { title: own.title }),
    ...(own?.description === undefined ? {} : { description: own.description }),
    name: view.service === null ? hubName(entry.id, name) : name,
  };
}

/** An address that says which service it is of. */
const ownUri = (service: string, uri: string): string => `mcp-${service}:${uri}`;
