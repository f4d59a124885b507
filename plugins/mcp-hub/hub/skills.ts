/**
 * Skills over MCP: those of the store, and those of services under their names. For views of clients that declare the extension.
 * https://github.com/modelcontextprotocol/ext-skills (SEP-2640), for revision 2026-07-28.
 */
import { type JsonRecord, toList, toRecord, toText } from "sessarc";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { decideService } from "../policy/policy.ts";
import type { Registry } from "../registry/registry.ts";
import { childrenOf, type Skill, skillProblem, toSkill, withUris } from "../skills/entries.ts";
import type { LeftOutSkill, StoreSkills } from "../skills/store.ts";
import { fromHubUri, GET, isPlainUri, READ_DIRECTORY, SKILLS, toHubUri } from "../skills/uris.ts";
import type { Caller } from "../upstream/pool.ts";
import { INTERNAL, INVALID_PARAMS, RpcError } from "../upstream/rpc-error.ts";
import type { Catalog } from "./catalog.ts";
import type { Listings } from "./listings.ts";
import type { HubRequest, ServiceProxy } from "./proxy.ts";
import type { View } from "./view.ts";

/** Whose a skill's address is. */
export interface SkillOwner {
  entry: ServiceEntry;
  /** As the service has it; of the store, as the client has it. */
  uri: string;
}

export interface HubSkills {
  /** Every skill of the view, sorted by address, and what is not served. */
  list(view: View, caller: Caller): Promise<{ skills: Skill[]; leftOut: LeftOutSkill[] }>;
  /** The entry of one skill, listed or not. Throws RpcError, as all below. */
  get(view: View, request: HubRequest, handled: Handled): Promise<Skill>;
  /** The direct children of a folder of skills. */
  directory(view: View, request: HubRequest, handled: Handled): Promise<JsonRecord[]>;
  /** Whose an address of a skill is; undefined for an address of no skill. Asks the one service alone. */
  find(view: View, caller: Caller, uri: string): Promise<SkillOwner | undefined>;
  /** Contents of a file of the store. */
  read(uri: string): Promise<JsonRecord>;
}

interface Handled {
  service: string | null;
  uri?: string;
}

interface SkillParts {
  registry: Registry;
  catalog: Catalog;
  listings: Listings;
  proxy: ServiceProxy;
  store: StoreSkills;
}

export function createHubSkills({ registry, catalog, listings, proxy, store }: SkillParts): HubSkills {
  const seesStore = async (view: View) => {
    const entry = (await registry.list()).find(({ id }) => id === BUILTIN_ID);
    const isHere = view.service === null || view.service === BUILTIN_ID;
    return entry && isHere && decideService(entry, view.context).allowed ? entry : undefined;
  };

  async function list(view: View, caller: Caller) {
    const own = (await seesStore(view)) ? await store.list() : { skills: [], leftOut: [] };
    const { listed } = await listings.services(view, caller);
    const skills = [...own.skills];
    const leftOut = [...own.leftOut];
    for (const { entry, listing } of listed) {
      for (const item of listing.items.skills) {
        const skill = toSkill(item);
        if (skill) skills.push(shown(view, entry, skill));
      }
      for (const { kind, name, reason } of listing.problems)
        if (kind === "skills") leftOut.push({ service: entry.id, skill: name ?? "", reason });
    }
    return { skills: skills.sort((a, b) => (a.uri < b.uri ? -1 : 1)), leftOut };
  }

  async function find(view: View, caller: Caller, uri: string): Promise<SkillOwner | undefined> {
    const own = await seesStore(view);
    if (own && (uri === `skill://${BUILTIN_ID}` || uri.startsWith(`skill://${BUILTIN_ID}/`)))
      return { entry: own, uri };
    const named = view.service === null ? fromHubUri(uri) : { service: view.service, uri };
    const entry = named && (await registry.list()).find(({ id }) => id === named.service);
    if (!named || !entry || entry.id === BUILTIN_ID || !decideService(entry, view.context).allowed) return undefined;
    const { capabilities } = await catalog.of(entry, caller);
    return toRecord(capabilities.extensions)[SKILLS] === undefined ? undefined : { entry, uri: named.uri };
  }

  return {
    list,
    find,
    async get(view, request, handled) {
      const asked = readUri(request);
      const none = () => new RpcError(INVALID_PARAMS, `No skill is served at ${asked}`, { uri: asked });
      const owner = await find(view, request.caller, asked);
      if (!owner) throw none();
      const { entry, uri } = owner;
      handled.service = entry.id;
      handled.uri = uri;
      if (entry.id === BUILTIN_ID) {
        const skill = (await store.list()).skills.find((one) => one.uri === asked);
        if (!skill) throw none();
        return skill;
      }
      if (uri === "") throw none();
      const item = toRecord(
        (await proxy(entry, { ...request, method: GET, params: { ...request.params, uri } })).skill,
      );
      const skill = toSkill(item);
      if (!skill) throw new RpcError(INTERNAL, `The entry of ${asked} is not valid: ${skillProblem(item)}`);
      if (skill.uri !== uri) throw new RpcError(INTERNAL, `${entry.id} answered another skill than ${asked}`);
      return shown(view, entry, skill);
    },
    async directory(view, request, handled) {
      const asked = readUri(request);
      const none = () => new RpcError(INVALID_PARAMS, `${asked} is not a folder of skills`, { uri: asked });
      const owner = await find(view, request.caller, asked);
      if (!owner) throw none();
      const { entry, uri } = owner;
      handled.service = entry.id;
      const { capabilities } = entry.id === BUILTIN_ID ? { capabilities: {} } : await catalog.of(entry, request.caller);
      const canRead = toRecord(toRecord(toRecord(capabilities).extensions)[SKILLS]).directoryRead === true;
      if (canRead && uri !== "") return readDirectory(view, entry, uri, request);
      const children = childrenOf((await list(view, request.caller)).skills, asked);
      if (!children) throw none();
      return children;
    },
    async read(uri) {
      const result = await store.read(uri);
      if (!result) throw new RpcError(INVALID_PARAMS, `No skill has a file ${uri}`, { uri });
      return result;
    },
  };

  /** All pages of a service's own answer. */
  async function readDirectory(
    view: View,
    entry: ServiceEntry,
    uri: string,
    request: HubRequest,
  ): Promise<JsonRecord[]> {
    const children: JsonRecord[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      const params = { ...request.params, uri, ...(cursor === undefined ? { cursor: undefined } : { cursor }) };
      const answer = await proxy(entry, { ...request, method: READ_DIRECTORY, params });
      for (const child of toList(answer.resources).map(toRecord)) {
        const address = toText(child.uri);
        // One outside of the folder would lead a client elsewhere under this folder's name.
        if (address === undefined || !isPlainUri(address) || !address.startsWith(`${uri}/`)) continue;
        const hub = view.service === null ? toHubUri(entry.id, address) : address;
        if (hub !== undefined) children.push({ ...child, uri: hub });
      }
      cursor = toText(answer.nextCursor);
      if (cursor === undefined) break;
    }
    return children;
  }
}

/** A service that never ends its list is cut here. */
const MOST_PAGES = 100;

function readUri({ params }: HubRequest): string {
  const uri = toText(params.uri);
  if (uri === undefined) throw new RpcError(INVALID_PARAMS, "An address is missing");
  if (!isPlainUri(uri)) throw new RpcError(INVALID_PARAMS, `${uri.slice(0, 200)} is not a plain address`);
  return uri;
}

/** An entry as clients of the view see it: under its service's name, unless the view is that service. */
function shown(view: View, entry: ServiceEntry, skill: Skill): Skill {
  return view.service === null ? withUris(skill, (uri) => toHubUri(entry.id, uri) ?? uri) : skill;
}

/** What a service answered for one of its addresses, with the addresses that the client knows. */
export function withHubUris(view: View, { entry }: SkillOwner, result: JsonRecord): JsonRecord {
  if (view.service !== null || !Array.isArray(result.contents)) return result;
  const contents = result.contents.map((content: unknown) => {
    const item = toRecord(content);
    const uri = toText(item.uri);
    return { ...item, ...(uri === undefined ? {} : { uri: toHubUri(entry.id, uri) ?? uri }) };
  });
  return { ...result, contents };
}
