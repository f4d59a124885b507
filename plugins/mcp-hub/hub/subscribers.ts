/** Clients that are connected, and the notifications and questions of services: each client gets what concerns it and nothing else. */
import type { JsonRecord } from "sessarc";
import type { ServiceEntry } from "../entry.ts";
import { decideService } from "../policy/policy.ts";
import type { Registry } from "../registry/registry.ts";
import type { Caller, Slot } from "../upstream/pool.ts";
import { METHOD_NOT_FOUND, RpcError } from "../upstream/rpc-error.ts";
import type { Kind } from "./definitions.ts";
import type { View } from "./view.ts";

/** A client that stays connected between its requests. */
export interface Subscriber {
  /** As `Caller.session`; undefined for one that has no connections of its own. */
  readonly session: string | undefined;
  view(): View;
  notify(method: string, params: JsonRecord): void;
  /** As whom it asks, outside of its requests. */
  readonly caller: Caller;
  /** How it calls this address of a service, where it wants to know about it; empty where it does not. */
  wants(service: string, uri: string): readonly string[];
  /** The addresses of a service it wants to know about, as the service has them. */
  wanted(service: string): readonly string[];
  /** The log level it asked for; undefined while it did not. */
  readonly level?: string | undefined;
  /** Whether it wants log messages of this level. */
  hears(level: unknown): boolean;
}

export interface Subscribers {
  add(client: Subscriber): () => void;
  readonly count: number;
  /** Something of a service changed: notifies the clients that see it, once for a burst. */
  changed(service: string, kinds: readonly Kind[], before?: ServiceEntry): void;
  /** Those who want to know about an address of a service. */
  wanting(service: string, uri: string): readonly Subscriber[];
  /** Every address of a service that a client wants to know about. */
  wanted(service: string): readonly string[];
  /** Notifies them that it changed. */
  updated(service: string, uri: string, params: JsonRecord): Promise<void>;
  /** Sets the log level of services for a client. */
  setLevel(slots: readonly Slot[], level: string | undefined): Promise<void>;
  /** A connection was opened: it gets the level its owner asked for. */
  onOpen(slot: Slot): void;
  onNotification(slot: Slot, method: string, params: JsonRecord): void;
  onRequest(slot: Slot, method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
  close(): void;
}

const DEBOUNCE_MS = 100;
/** While a service announces changes without an end, clients are notified less and less often. */
const MOST_DEBOUNCE_MS = 10_000;
const LEVEL_MS = 5_000;
const UPDATED = "notifications/resources/updated";
const NOTICES: Record<Kind, string> = {
  tools: "notifications/tools/list_changed",
  prompts: "notifications/prompts/list_changed",
  resources: "notifications/resources/list_changed",
  resourceTemplates: "notifications/resources/list_changed",
  // The extension defines no notification: its files are resources, which have one.
  skills: "notifications/resources/list_changed",
};
const CHANGES: Record<string, readonly Kind[]> = {
  "notifications/tools/list_changed": ["tools"],
  "notifications/prompts/list_changed": ["prompts"],
  "notifications/resources/list_changed": ["resources", "resourceTemplates"],
};

export function createSubscribers(registry: Registry, forget: (service: string) => void): Subscribers {
  const subscribers = new Set<Subscriber>();
  const pending = new Map<string, { kinds: Set<Kind>; before: ServiceEntry | undefined }>();
  let timer: NodeJS.Timeout | undefined;
  let wait = DEBOUNCE_MS;
  let toldAt = Number.NEGATIVE_INFINITY;

  async function tell(): Promise<void> {
    timer = undefined;
    toldAt = performance.now();
    const changes = [...pending];
    pending.clear();
    const entries = new Map((await registry.list()).map((entry) => [entry.id, entry]));
    for (const client of subscribers) {
      const view = client.view();
      const sees = (entry: ServiceEntry | undefined) =>
        entry !== undefined && decideService(entry, view.context).allowed;
      const notices = new Set<string>();
      for (const [id, { kinds, before }] of changes) {
        if (view.service !== null && view.service !== id) continue;
        // Also those who saw it until now.
        if (!sees(entries.get(id)) && !sees(before)) continue;
        for (const kind of kinds) if (concerns(kind, view)) notices.add(NOTICES[kind]);
      }
      for (const notice of notices) client.notify(notice, {});
    }
  }

  const changed: Subscribers["changed"] = (service, kinds, before) => {
    const known = pending.get(service) ?? { kinds: new Set<Kind>(), before };
    for (const kind of kinds) known.kinds.add(kind);
    known.before ??= before;
    pending.set(service, known);
    if (timer) return;
    wait = performance.now() - toldAt < 2 * wait ? Math.min(2 * wait, MOST_DEBOUNCE_MS) : DEBOUNCE_MS;
    timer = setTimeout(() => void tell().catch(ignore), wait);
    timer.unref();
  };

  const wanting: Subscribers["wanting"] = (service, uri) =>
    [...subscribers].filter((client) => client.wants(service, uri).length > 0);

  async function updated(service: string, uri: string, params: JsonRecord): Promise<void> {
    const entry = (await registry.list()).find(({ id }) => id === service);
    for (const client of wanting(service, uri)) {
      if (!entry || !decideService(entry, client.view().context).allowed) continue;
      for (const address of client.wants(service, uri)) client.notify(UPDATED, { ...params, uri: address });
    }
  }

  /** Those whose requests run over this connection; its owner, when none does. */
  function listeners(slot: Slot): { callers: readonly Caller[]; owner: Subscriber | undefined } {
    const owner = [...subscribers].find(({ session }) => session !== undefined && session === slot.owner);
    return { callers: [...slot.callers], owner };
  }

  async function setLevel(slots: readonly Slot[], level: string | undefined): Promise<void> {
    const able = slots.filter(({ connection }) => connection.protocol === "legacy" && connection.capabilities.logging);
    const options = { signal: new AbortController().signal, timeoutMs: LEVEL_MS };
    // A service that cannot is heard in full; messages are filtered here as well.
    await Promise.allSettled(able.map(({ connection }) => connection.request("logging/setLevel", { level }, options)));
  }

  return {
    changed,
    setLevel,
    onOpen(slot) {
      const { owner } = listeners(slot);
      if (owner?.level !== undefined) void setLevel([slot], owner.level);
    },
    wanting,
    wanted: (service) => [...new Set([...subscribers].flatMap((client) => client.wanted(service)))],
    updated,
    get count() {
      return subscribers.size;
    },
    add(client) {
      subscribers.add(client);
      return () => void subscribers.delete(client);
    },
    onNotification(slot, method, params) {
      const kinds = CHANGES[method];
      if (kinds) {
        forget(slot.service);
        return changed(slot.service, kinds);
      }
      if (method === UPDATED) return void updated(slot.service, String(params.uri), params).catch(ignore);
      const { callers, owner } = listeners(slot);
      if (callers.length === 0) {
        if (owner && (method !== "notifications/message" || owner.hears(params.level))) owner.notify(method, params);
      } else for (const caller of new Map(callers.map((it) => [it.session, it])).values()) caller.tell(method, params);
    },
    async onRequest(slot, method, params, signal) {
      const { callers, owner } = listeners(slot);
      const able = callers.filter(({ ask }) => ask);
      // Over a shared connection a question does not say whose call it belongs to: either one client alone can be meant, or no client is asked.
      const sessions = new Set(able.map(({ session }) => session));
      const ask = slot.owner !== undefined || sessions.size === 1 ? (able.at(-1)?.ask ?? owner?.caller.ask) : undefined;
      if (!ask) throw new RpcError(METHOD_NOT_FOUND, `No client can answer ${method}`);
      return ask(method, params, signal);
    },
    close() {
      clearTimeout(timer);
      subscribers.clear();
    },
  };
}

const concerns = (kind: Kind, view: View) =>
  kind === "tools" ? !view.search : kind === "skills" ? view.skills === true : true;

/** The vault cannot be opened: every request reports that already. */
const ignore = () => {};
