/** The hub: services on one side, clients on the other, and everything that has to be known between them. */

import { type JsonRecord, type Kernel, SessarcError, toMessage, toRecord, toText } from "sessarc";
import { BUILTIN_ID, type ServiceEntry, type ServiceHealth } from "../entry.ts";
import type { Registry } from "../registry/registry.ts";
import type { RegistryStore } from "../registry/store.ts";
import type { StoreSkills } from "../skills/store.ts";
import type { AuthFor } from "../upstream/auth.ts";
import { type Caller, createUpstreamPool, type UpstreamPool } from "../upstream/pool.ts";
import { INTERNAL, INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../upstream/rpc-error.ts";
import type { Vault } from "../vault/seal.ts";
import { type Catalog, createCatalog, type Listing, type LocalService } from "./catalog.ts";
import { KINDS } from "./definitions.ts";
import { createDispatch, type Handled, type ToolCall } from "./dispatch.ts";
import { createKnownLists } from "./known-lists.ts";
import { createListings, type Listings } from "./listings.ts";
import { createHubLog, type HubLog } from "./log.ts";
import { createPendingCalls } from "./pending-calls.ts";
import { createServiceProxy, type HubRequest } from "./proxy.ts";
import { createRenewal } from "./renewal.ts";
import { createHubSkills, type HubSkills } from "./skills.ts";
import { createCallStats, estimateTokens } from "./stats.ts";
import { createSubscribers, type Subscribers } from "./subscribers.ts";
import { type View, withProfile } from "./view.ts";

export interface Hub {
  readonly pool: UpstreamPool;
  readonly catalog: Catalog;
  readonly listings: Listings;
  readonly subscribers: Subscribers;
  readonly log: HubLog;
  readonly skills: HubSkills;
  /** One request of a client, whatever its protocol version. Throws as `createDispatch` says. `id` is shown in the log; `handled` is filled. */
  ask(view: View, request: HubRequest, id: string | number | null, handled?: Handled): Promise<JsonRecord>;
  health(entry: ServiceEntry): ServiceHealth;
  /** The last known lists of a service; nothing is asked. */
  lists(entry: ServiceEntry): Promise<Listing | undefined>;
  /** A service was changed or removed: its connections end, clients are notified. */
  replaced(service: string): Promise<void>;
  /** A client ended its subscription to an address: the last one ends it at the service. */
  release(service: string, uri: string): Promise<void>;
  /** A skill of the store changed: clients that declare the extension are notified. */
  skillChanged(id: string): Promise<void>;
  /** Calls that were counted are in the catalogue then. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface HubParts {
  registry: Registry;
  vault: Vault;
  store: RegistryStore;
  /** The archive. */
  local: LocalService;
  /** Skills of the store. */
  skills: StoreSkills;
  authFor: AuthFor;
}

export function createHub(kernel: Kernel, { registry, vault, store, local, skills: stored, authFor }: HubParts): Hub {
  const log = createHubLog();
  const report = (error: unknown) => void kernel.notify("listener:failed", error, { hook: "mcp" });
  const stats = createCallStats(kernel.storage, report);
  const known = createKnownLists(kernel.storage, vault, report);
  const pendingCalls = createPendingCalls();
  const subscribers = createSubscribers(registry, (service) => catalog.forget(service));
  const idleMs = kernel.config.mcp.idleMinutes * 60_000;
  const pool = createUpstreamPool(
    { env: kernel.env, workers: kernel.pool, closing: kernel.closing, idleMs, authFor },
    {
      onOpen: (slot) => subscribers.onOpen(slot),
      onLost: (service, uris) => renewal.lost(service, uris),
      async onRequest(slot, method, params, signal) {
        const started = performance.now();
        const entry = {
          direction: "out",
          service: slot.service,
          session: slot.owner ?? "shared",
          method,
          id: null,
        } as const;
        try {
          const result = await subscribers.onRequest(slot, method, params, signal);
          log.add({ ...entry, ms: since(started), status: "ok", payload: { params, result } });
          return result;
        } catch (error) {
          log.add({ ...entry, ms: since(started), status: "error", payload: { params, error: String(error) } });
          throw error;
        }
      },
      onNotification(slot, method, params) {
        const session = slot.owner ?? "shared";
        log.add({
          direction: "out",
          service: slot.service,
          session,
          method,
          id: null,
          ms: null,
          status: "sent",
          payload: params,
        });
        subscribers.onNotification(slot, method, params);
      },
    },
  );
  const catalog = createCatalog(pool, store, local, known);
  const listings = createListings({
    registry,
    catalog,
    isOpen: (service) => pool.ofService(service).length > 0,
    changed: (service) => subscribers.changed(service, KINDS),
  });
  const proxy = createServiceProxy(pool, pendingCalls, local);
  const renewal = createRenewal(registry, subscribers, proxy, kernel.closing);
  const skills = createHubSkills({ registry, catalog, listings, proxy, store: stored });
  const dispatch = createDispatch({ registry, catalog, listings, proxy, skills, middleware });

  /** Wraps every call of a tool: the guard, the hooks, the record of how it went. */
  async function middleware(call: ToolCall, next: (args: JsonRecord) => Promise<JsonRecord>): Promise<JsonRecord> {
    const { entry, tool, name, view, request } = call;
    if (entry.guard) await checkArguments(call);
    const told = { service: entry.id, tool, arguments: call.arguments };
    await kernel.hooks.callHook("mcp:call", told);
    const at = Date.now();
    const started = performance.now();
    let result: JsonRecord | undefined;
    try {
      result = await next(told.arguments);
      return result;
    } finally {
      const ms = since(started);
      // What waits for input is not over yet.
      if (result?.resultType !== "input_required") {
        const ok = result !== undefined && result.isError !== true;
        stats.add({
          at,
          service: entry.id,
          tool,
          name,
          client: view.context.client,
          toolUseId: findToolUseId(request),
          ms,
          ok,
          tokensIn: estimateTokens(call.arguments),
          tokensOut: estimateTokens(result ?? ""),
        });
        void kernel.notify("mcp:called", { service: entry.id, tool, ms, ok });
      }
    }
  }

  async function checkArguments({ entry, tool, name, arguments: input, view }: ToolCall): Promise<void> {
    const body = JSON.parse(JSON.stringify({ tool_name: `mcp__${entry.id}__${tool}`, tool_input: input }));
    const { decision } = await kernel.inject("guard").check(body, view.context.client ?? "mcp");
    if (decision.decision === "block")
      throw new SessarcError("TOOL_DENIED", { name, reason: decision.reason ?? "the guard blocks its arguments" });
  }

  return {
    pool,
    catalog,
    listings,
    subscribers,
    log,
    skills,
    async ask(view, request, id, handled: Handled = { service: null }) {
      const started = performance.now();
      const { method, params, caller } = request;
      const head = { direction: "in", session: caller.session, method, id } as const;
      try {
        const result = await dispatch(withProfile(view, kernel.config.mcp.profiles), request, handled);
        log.add({ ...head, service: handled.service, ms: since(started), status: "ok", payload: { params, result } });
        return result;
      } catch (error) {
        const status = error instanceof SessarcError && error.code === "TOOL_DENIED" ? "denied" : "error";
        const message = toMessage(error);
        log.add({ ...head, service: handled.service, ms: since(started), status, payload: { params, error: message } });
        throw error;
      }
    },
    health(entry) {
      const { calls, p95Ms } = stats.of(entry.id);
      if (entry.id === BUILTIN_ID)
        return { state: entry.enabled ? "running" : "disabled", lastError: null, calls, p95Ms };
      return { ...pool.state(entry), calls, p95Ms };
    },
    lists: (entry) => catalog.last(entry, MANAGER),
    async replaced(service) {
      listings.forget(service);
      const isThere = (await registry.list()).some(({ id }) => id === service);
      if (isThere) catalog.forget(service);
      else catalog.remove(service);
      subscribers.changed(service, KINDS);
      await pool.reset(service);
    },
    async release(service, uri) {
      if (subscribers.wanting(service, uri).length > 0) return;
      for (const { subscriptions } of pool.ofService(service)) {
        const end = subscriptions.get(uri);
        subscriptions.delete(uri);
        // A service that is gone needs no telling.
        await end?.().catch(() => {});
      }
    },
    async skillChanged(id) {
      subscribers.changed(BUILTIN_ID, ["skills"]);
      const below = `skill://${BUILTIN_ID}/${id}/`;
      for (const uri of subscribers.wanted(BUILTIN_ID))
        if (uri.startsWith(below)) await subscribers.updated(BUILTIN_ID, uri, {});
    },
    flush: () => stats.flush(),
    async close() {
      pendingCalls.close();
      renewal.close();
      listings.close();
      subscribers.close();
      await pool.close();
      await known.close();
      await stats.flush();
    },
  };
}

/** The management API as a client: it can be asked nothing, and holds nothing open. */
export const MANAGER: Caller = { session: "api", protocol: "legacy", capabilities: {}, tell: () => {} };

const since = (started: number) => Math.round((performance.now() - started) * 1_000) / 1_000;

/** Assistants say which of their calls this is; each has its own name for it. */
function findToolUseId({ params }: HubRequest): string | null {
  const meta = toRecord(params._meta);
  for (const [key, value] of Object.entries(meta)) if (/tool_?(use|call)_?id$/i.test(key)) return toText(value) ?? null;
  return null;
}

/** The error a client gets: codes of JSON-RPC, and nothing about what it may not see. */
export function toRpcError(error: unknown): RpcError {
  if (error instanceof RpcError) return error;
  if (error instanceof SessarcError) {
    const { code, message, params } = error as SessarcError;
    if (code === "TOOL_NOT_FOUND" || code === "TOOL_DENIED")
      return new RpcError(INVALID_PARAMS, `Unknown tool: ${(params as { name: string }).name}`);
    if (code === "SERVICE_NOT_FOUND") return new RpcError(METHOD_NOT_FOUND, message);
    return new RpcError(code === "INVALID_INPUT" ? INVALID_PARAMS : INTERNAL, message);
  }
  return new RpcError(INTERNAL, toMessage(error));
}
