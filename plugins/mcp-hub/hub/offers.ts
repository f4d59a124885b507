/** What a view shows: the lists of every service in it, one order, each name once. A service that fails is left out and named. */
import type { JsonRecord } from "sessarc";
import { isSessarcError } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import { decideService, decideTool } from "../policy/policy.ts";
import type { Registry } from "../registry/registry.ts";
import type { Caller } from "../upstream/pool.ts";
import { messageOf } from "../upstream/rpc-error.ts";
import type { Catalog, Kind, Listing } from "./catalog.ts";
import { hubName } from "./names.ts";
import type { View } from "./view.ts";

export interface Offered {
  entry: ServiceEntry;
  listing: Listing;
}

/** Everybody else's tools do not wait longer for a service that is slow to start; clients are told when it is there. */
const LIST_WAIT_MS = 8_000;

export interface Offers {
  /** Services of the view whose lists are known, by id; the others with what went wrong. */
  services(view: View, caller: Caller): Promise<{ offered: Offered[]; failed: Record<string, string> }>;
  /** Items of a list as the client sees them. */
  list(view: View, caller: Caller, kind: Kind): Promise<JsonRecord[]>;
}

export function createOffers(registry: Registry, catalog: Catalog, arrivedLate: (service: string) => void): Offers {
  async function one(entry: ServiceEntry, caller: Caller, patient: boolean): Promise<Listing> {
    const listing = catalog.of(entry, caller);
    if (patient) return listing;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error("it is still starting"));
        listing.then(() => arrivedLate(entry.id)).catch(() => {});
      }, LIST_WAIT_MS);
    });
    return Promise.race([listing, late]).finally(() => clearTimeout(timer));
  }

  async function services(view: View, caller: Caller) {
    const all = await registry.list();
    const entries = all.filter(
      (entry) => (view.service === null || view.service === entry.id) && decideService(entry, view.audience).allowed,
    );
    const offered: Offered[] = [];
    const failed: Record<string, string> = {};
    await Promise.all(
      entries.map(async (entry) => {
        try {
          offered.push({ entry, listing: await one(entry, caller, view.service !== null) });
        } catch (error) {
          if (view.service !== null) throw error;
          failed[entry.id] = isSessarcError(error) ? error.message : messageOf(error);
        }
      }),
    );
    return { offered: offered.sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1)), failed };
  }

  return {
    services,
    async list(view, caller, kind) {
      const { offered } = await services(view, caller);
      const taken = new Set<string>();
      return offered.flatMap((it) => itemsOf(it, view, kind, taken));
    },
  };
}

function itemsOf({ entry, listing }: Offered, view: View, kind: Kind, taken: Set<string>): JsonRecord[] {
  const items = listing.items[kind];
  if (kind === "tools") {
    const allowed = items.filter(
      ({ name }) => decideTool(entry, view.audience, String(name), listing.changed.has(String(name))).allowed,
    );
    return allowed.map((tool) => shownTool(entry, tool, view));
  }
  if (view.service !== null) return [...items];
  if (kind === "prompts") return items.map((prompt) => ({ ...prompt, name: hubName(entry.id, String(prompt.name)) }));
  const key = kind === "resources" ? "uri" : "uriTemplate";
  return items.map((item) => {
    const uri = String(item[key]);
    // Of two services with one address the later one's is told apart; `resources.ts` knows the way back.
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
export const ownUri = (service: string, uri: string): string => `mcp-${service}:${uri}`;
