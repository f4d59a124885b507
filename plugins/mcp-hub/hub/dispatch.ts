/** What a client may ask the hub, method by method, the same for every protocol version. */
import { type JsonRecord, SessarcError, toRecord, toText } from "sessarc";
import { BUILTIN_ID, type ServiceEntry } from "../entry.ts";
import { decideService, decideTool } from "../policy/policy.ts";
import type { Registry } from "../registry/registry.ts";
import { toResource } from "../skills/store.ts";
import { GET, LIST, READ_DIRECTORY } from "../skills/uris.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../upstream/rpc-error.ts";
import type { Catalog, Listing } from "./catalog.ts";
import type { Kind } from "./definitions.ts";
import { CALL, FIND, FINDER_TOOLS, findTools } from "./finder.ts";
import type { Listings } from "./listings.ts";
import { findService, hubName } from "./names.ts";
import type { HubRequest, ServiceProxy } from "./proxy.ts";
import { readOwner } from "./resources.ts";
import { type HubSkills, withHubUris } from "./skills.ts";
import { type View, withoutProfile } from "./view.ts";

interface DispatchParts {
  registry: Registry;
  catalog: Catalog;
  listings: Listings;
  proxy: ServiceProxy;
  skills: HubSkills;
  /** Wraps a call of a tool: may refuse it by throwing before `next`, and records how it went after it. */
  middleware(call: ToolCall, next: (args: JsonRecord) => Promise<JsonRecord>): Promise<JsonRecord>;
}

export interface ToolCall {
  entry: ServiceEntry;
  /** The service's own name. */
  tool: string;
  /** The name that was called. */
  name: string;
  arguments: JsonRecord;
  view: View;
  request: HubRequest;
}

/** What is said of a request beside its answer. */
export interface Handled {
  service: string | null;
  /** The address as the service knows it. */
  uri?: string;
}

/** Items in one answer of a list. */
const PAGE = 200;
const LISTS: Record<string, Kind> = {
  "tools/list": "tools",
  "prompts/list": "prompts",
  "resources/list": "resources",
  "resources/templates/list": "resourceTemplates",
};

type Dispatch = (view: View, request: HubRequest, handled: Handled) => Promise<JsonRecord>;

/** Throws RpcError, or TOOL_NOT_FOUND, TOOL_DENIED, SERVICE_NOT_FOUND, UPSTREAM_FAILED, UPSTREAM_TIMEOUT. */
export function createDispatch({ registry, catalog, listings, proxy, skills, middleware }: DispatchParts): Dispatch {
  async function list(view: View, request: HubRequest, kind: Kind): Promise<JsonRecord> {
    const items = view.search && kind === "tools" ? FINDER_TOOLS : await allItems(view, request, kind);
    return toPage(request, kind, items);
  }

  async function allItems(view: View, request: HubRequest, kind: Kind): Promise<readonly JsonRecord[]> {
    const items = await listings.list(view, request.caller, kind);
    if (kind === "resources" && view.skills) {
      const stored = (await skills.list(view, request.caller)).skills.filter(({ uri }) => uri.startsWith(STORE));
      return [...items, ...stored.map(toResource)];
    }
    return kind === "tools" && view.more ? [...items, ...FINDER_TOOLS] : items;
  }

  /** The service a name belongs to, its item, and how the service itself calls it. Undefined where no service has it. */
  async function find(view: View, request: HubRequest, kind: "tools" | "prompts", name: string) {
    const id = view.service ?? findService(name);
    const entry = (await registry.list()).find((one) => one.id === id);
    if (!entry || !decideService(entry, view.context).allowed) return { entry, item: undefined };
    const listing: Listing = await catalog.of(entry, request.caller);
    const item = listing.byHubName[kind].get(view.service === null ? name : hubName(entry.id, name));
    return { entry, item, listing };
  }

  async function callTool(view: View, request: HubRequest, handled: Handled): Promise<JsonRecord> {
    const { params } = request;
    const name = toText(params.name);
    if (name === undefined) throw new RpcError(INVALID_PARAMS, "A call needs the name of a tool");
    const finds = view.search || view.more === true;
    const all = view.more ? withoutProfile(view) : view;
    if (finds && name === FIND)
      return findTools(await listings.list(all, request.caller, "tools"), toRecord(params.arguments));
    if (finds && name === CALL) {
      const inner = toRecord(params.arguments);
      const forwarded = { ...params, name: inner.name, arguments: toRecord(inner.arguments) };
      return callTool({ ...all, search: false }, { ...request, params: forwarded }, handled);
    }
    const { entry, item, listing } = await find(view, request, "tools", name);
    handled.service = entry?.id ?? null;
    if (!entry) throw new SessarcError("TOOL_NOT_FOUND", { name });
    const service = decideService(entry, view.context);
    if (!service.allowed) throw new SessarcError("TOOL_DENIED", { name, reason: service.reason });
    if (!item) throw new SessarcError("TOOL_NOT_FOUND", { name });
    const tool = String(item.name);
    const decision = decideTool(entry, view.context, tool, listing?.changed.has(tool) ?? false);
    if (!decision.allowed) throw new SessarcError("TOOL_DENIED", { name, reason: decision.reason });
    const call = { entry, tool, name, arguments: toRecord(params.arguments), view, request };
    return middleware(call, (args) =>
      proxy(entry, { ...request, params: { ...params, name: tool, arguments: args }, tool: item }),
    );
  }

  async function getPrompt(view: View, request: HubRequest, handled: Handled): Promise<JsonRecord> {
    const name = toText(request.params.name) ?? "";
    const { entry, item } = await find(view, request, "prompts", name);
    if (!entry || !item) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${name}`);
    handled.service = entry.id;
    return proxy(entry, { ...request, params: { ...request.params, name: item.name } });
  }

  async function withResource(view: View, request: HubRequest, handled: Handled): Promise<JsonRecord> {
    const asked = toText(request.params.uri);
    if (asked === undefined) throw new RpcError(INVALID_PARAMS, "An address is missing");
    const owner = view.skills ? await skills.find(view, request.caller, asked) : undefined;
    const { entry, uri } = owner ?? (await readOwner(listings, view, request.caller, asked));
    handled.service = entry.id;
    handled.uri = uri;
    if (owner && asked.startsWith(STORE)) return request.method === "resources/read" ? skills.read(uri) : {};
    if (owner) return withHubUris(view, owner, await proxy(entry, { ...request, params: { ...request.params, uri } }));
    return proxy(entry, { ...request, params: { ...request.params, uri } });
  }

  async function complete(view: View, request: HubRequest, handled: Handled): Promise<JsonRecord> {
    const ref = toRecord(request.params.ref);
    if (ref.type === "ref/prompt") {
      const { entry, item } = await find(view, request, "prompts", toText(ref.name) ?? "");
      if (!entry || !item) throw new RpcError(INVALID_PARAMS, `Unknown prompt: ${String(ref.name)}`);
      handled.service = entry.id;
      return proxy(entry, { ...request, params: { ...request.params, ref: { ...ref, name: item.name } } });
    }
    const { entry, uri } = await readOwner(listings, view, request.caller, toText(ref.uri) ?? "");
    handled.service = entry.id;
    return proxy(entry, { ...request, params: { ...request.params, ref: { ...ref, uri } } });
  }

  /** The extension's own methods; undefined for any other. */
  async function askSkills(view: View, request: HubRequest, handled: Handled): Promise<JsonRecord | undefined> {
    switch (request.method) {
      case LIST:
        return { ...toPage(request, "skills", (await skills.list(view, request.caller)).skills), ...FRESH };
      case GET:
        return { skill: await skills.get(view, request, handled), ...FRESH };
      case READ_DIRECTORY:
        return { ...toPage(request, "resources", await skills.directory(view, request, handled)), ...FRESH };
      default:
        return undefined;
    }
  }

  return async (view, request, handled) => {
    handled.service = view.service;
    if (view.service !== null) await registry.get(view.service);
    const kind = LISTS[request.method];
    if (kind) return list(view, request, kind);
    const answer = view.skills ? await askSkills(view, request, handled) : undefined;
    if (answer) return answer;
    switch (request.method) {
      case "tools/call":
        return callTool(view, request, handled);
      case "prompts/get":
        return getPrompt(view, request, handled);
      case "resources/read":
      case "resources/subscribe":
        return withResource(view, request, handled);
      case "completion/complete":
        return complete(view, request, handled);
      default:
        throw new RpcError(METHOD_NOT_FOUND, "Method not found");
    }
  };
}

/** Of skills a client asks again each time: their digests are those of this moment. */
const FRESH = { ttlMs: 0, cacheScope: "private" } as const;
const STORE = `skill://${BUILTIN_ID}/`;

function toPage({ params }: HubRequest, key: string, items: readonly unknown[]): JsonRecord {
  const at = toOffset(params.cursor);
  return { [key]: items.slice(at, at + PAGE), ...(at + PAGE < items.length ? { nextCursor: String(at + PAGE) } : {}) };
}

function toOffset(cursor: unknown): number {
  if (cursor === undefined) return 0;
  if (typeof cursor === "string" && /^\d{1,7}$/.test(cursor)) return Number(cursor);
  throw new RpcError(INVALID_PARAMS, "This cursor is not valid: pass the `nextCursor` of the previous page");
}
