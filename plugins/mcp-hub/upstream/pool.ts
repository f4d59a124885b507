/**
 * Connections to services: opened when first needed, shared where nothing of a client shows in them, one per client where the service
 * may ask that client something. A service that fails is left alone for a growing while; one that is idle is ended.
 */

import type { JsonRecord, Pool } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import type { ServiceEntry, ServiceState } from "../entry.ts";
import { hideValues, toSecrets } from "../vault/mask.ts";
import type { AuthFor } from "./auth.ts";
import { type ConnectionEvents, connect, type Protocol } from "./connection.ts";
import { createGate } from "./gate.ts";
import { accessRefused, toFailure, toMessage } from "./rpc-error.ts";
import {
  type Caller,
  emptyRecord,
  isIdle,
  type OpenSlot,
  type PoolEvents,
  type ServiceRecord,
  type Slot,
  waitAfter,
} from "./slots.ts";
import { createWatchdog } from "./watchdog.ts";

export type { Caller, Slot } from "./slots.ts";

export interface UpstreamPool {
  /**
   * Runs `work` over a connection that fits the caller. `interactive` requests are those in which a service may ask back. Throws what
   * `toFailure` makes of a failure to connect; failures of `work` pass as they are.
   */
  use<T>(entry: ServiceEntry, caller: Caller, interactive: boolean, work: (slot: Slot) => Promise<T>): Promise<T>;
  /** The connections this client has to itself. */
  ofSession(session: string): readonly Slot[];
  /** All that are open to a service. */
  ofService(service: string): readonly Slot[];
  /** Ends a connection; the next use opens another one. */
  drop(slot: Slot): Promise<void>;
  /** The same, but requests that others have open over it may end first. */
  retire(slot: Slot): Promise<void>;
  endSession(session: string): Promise<void>;
  /** Ends everything of a service and forgets its failures. */
  reset(service: string): Promise<void>;
  state(entry: ServiceEntry): { state: ServiceState; lastError: string | null };
  close(): Promise<void>;
}

const CONNECT_MS = 60_000;
const SWEEP_MS = 30_000;
/** Connections for calls of modern clients that a legacy service may interrupt; more calls at once wait. */
const MOST_LEASES = 8;
const LEASE = "lease ";
const SHARED = "shared";
const MODERN = "modern";

interface PoolOptions {
  env: AdapterEnv;
  /** Workers that parse large answers. */
  workers: Pool;
  closing: AbortSignal;
  /** A connection that is unused for so long is ended. */
  idleMs: number;
  authFor: AuthFor;
}

export function createUpstreamPool(
  { env, workers, closing, idleMs, authFor }: PoolOptions,
  events: PoolEvents,
): UpstreamPool {
  const records = new Map<string, ServiceRecord>();
  const watchdog = createWatchdog(env.platform);
  const gate = createGate();
  let sweep: NodeJS.Timeout | undefined;

  const toRecord = (service: string): ServiceRecord => {
    const known = records.get(service);
    if (known) return known;
    const fresh = emptyRecord();
    records.set(service, fresh);
    return fresh;
  };

  function slotFor(entry: ServiceEntry, key: string, protocol: Protocol, capabilities: JsonRecord, owner?: string) {
    const record = toRecord(entry.id);
    const known = record.slots.get(key);
    if (known) return known;
    const opening = open(entry, record, key, protocol, capabilities, owner);
    record.slots.set(key, opening);
    opening.catch(() => {
      if (record.slots.get(key) === opening) record.slots.delete(key);
    });
    return opening;
  }

  async function open(
    entry: ServiceEntry,
    record: ServiceRecord,
    key: string,
    protocol: Protocol,
    capabilities: JsonRecord,
    owner: string | undefined,
  ): Promise<OpenSlot> {
    if (performance.now() < record.retryAt)
      throw toFailure(entry, new Error(record.lastError ?? "it failed a moment ago"));
    record.starting++;
    const callers = new Set<Caller>();
    let slot: OpenSlot | undefined;
    try {
      const told: ConnectionEvents = {
        onRequest: async (method, params, signal) => {
          if (!slot) throw new Error("not connected yet");
          return events.onRequest(slot, method, params, signal);
        },
        onNotification: (method, params) => slot && events.onNotification(slot, method, params),
        onClose: (reason) => slot && closed(entry, slot, reason),
      };
      const options = {
        entry,
        env,
        pool: workers,
        watchdog,
        authFor,
        protocol,
        capabilities,
        timeoutMs: CONNECT_MS,
        signal: closing,
      };
      // The first caller loads it. On a busy machine that takes seconds, which must not count as a service that hangs.
      await import("@modelcontextprotocol/client");
      const connection = await gate(() => connect({ ...options, events: told }));
      slot = {
        service: entry.id,
        key,
        owner,
        callers,
        connection,
        subscriptions: new Map(),
        usedAt: performance.now(),
        leased: false,
        running: 0,
        retired: false,
      };
      record.lastError = null;
      if (connection.protocol === "modern") record.modern = true;
      else record.legacy = true;
      if (protocol === "modern" && connection.protocol === "legacy") record.modern = false;
      if (protocol === "legacy" && connection.protocol === "modern") record.legacy = false;
      // The service was replaced while the connection opened: nothing else would ever end it.
      if (records.get(entry.id) !== record) {
        await connection.close();
        throw new Error("it was changed while it was started");
      }
      // The service was asked for the newer protocol and has the older one: every client that can be asked nothing may share it.
      if (key === MODERN && connection.protocol === "legacy" && !record.slots.has(SHARED)) {
        slot.key = SHARED;
        record.slots.delete(MODERN);
        record.slots.set(SHARED, Promise.resolve(slot));
      }
      record.open.add(slot);
      events.onOpen(slot);
      startSweep();
      return slot;
    } catch (error) {
      fail(entry, record, error);
      throw toFailure(entry, error, CONNECT_MS);
    } finally {
      record.starting--;
    }
  }

  function fail(entry: ServiceEntry, record: ServiceRecord, error: unknown): void {
    record.failures++;
    record.retryAt = performance.now() + waitAfter(record.failures);
    record.lastError = accessRefused(entry, error) ?? hideValues(toMessage(error), toSecrets(entry));
  }

  /** The next use opens another one. */
  function forget(record: ServiceRecord, slot: Slot): void {
    const known = [...record.open].find((one) => one === slot);
    if (!known || !record.open.delete(known)) return;
    if (!known.retired) record.slots.delete(known.key);
    lost(known);
  }

  function lost({ service, subscriptions }: OpenSlot): void {
    if (subscriptions.size > 0) events.onLost(service, [...subscriptions.keys()]);
    subscriptions.clear();
  }

  function closed(entry: ServiceEntry, slot: OpenSlot, reason: string | undefined): void {
    const record = records.get(slot.service);
    if (record) forget(record, slot);
    if (reason === undefined || !record) return;
    fail(entry, record, new Error(reason));
  }

  /** Which connection fits. Its key says who may share it. */
  async function choose(entry: ServiceEntry, caller: Caller, interactive: boolean): Promise<OpenSlot> {
    const record = toRecord(entry.id);
    const asked = Object.keys(caller.capabilities).length > 0;
    if (caller.protocol === "legacy") {
      if (record.legacy === false) return slotFor(entry, MODERN, "modern", {});
      if (!asked) return slotFor(entry, SHARED, "legacy", {});
      return slotFor(entry, `own ${caller.session}`, "legacy", caller.capabilities, caller.session);
    }
    if (record.modern !== false) {
      const slot = await slotFor(entry, MODERN, "modern", {});
      if (slot.connection.protocol === "modern" || !asked || !interactive) return slot;
    }
    if (!asked || !interactive) return slotFor(entry, SHARED, "legacy", {});
    return lease(entry, caller);
  }

  /** A connection for this caller alone, so that the service's questions can only be meant for it. */
  async function lease(entry: ServiceEntry, caller: Caller): Promise<OpenSlot> {
    const kind = JSON.stringify(caller.capabilities);
    for (;;) {
      // Read again each time: a change of the service replaces the record while this waits.
      const record = toRecord(entry.id);
      const unused = [...record.open].filter(
        ({ key, leased, retired }) => key.startsWith(LEASE) && !leased && !retired,
      );
      const fitting = unused.find(({ key }) => key.endsWith(kind));
      if (fitting) {
        fitting.leased = true;
        return fitting;
      }
      // Those that are being opened count.
      const all = [...record.slots.keys()].filter((key) => key.startsWith(LEASE)).length;
      if (all < MOST_LEASES) await openLease(entry, record, `${LEASE}${++record.leases} ${kind}`, caller);
      else if (unused[0]) await drop(unused[0]);
      else await new Promise<void>((resolve) => record.waiting.push(resolve));
    }
  }

  async function openLease(entry: ServiceEntry, record: ServiceRecord, key: string, caller: Caller): Promise<void> {
    try {
      await slotFor(entry, key, "legacy", caller.capabilities);
    } catch (error) {
      // A caller that waits for one of the eight may try in its place.
      record.waiting.shift()?.();
      throw error;
    }
  }

  function startSweep(): void {
    sweep ??= setInterval(
      () => {
        const limit = performance.now() - idleMs;
        const slots = [...records.values()].flatMap(({ open }) => [...open]);
        for (const slot of slots) if (isIdle(slot) && slot.usedAt < limit) void drop(slot);
        if (slots.length > 0) return;
        clearInterval(sweep);
        sweep = undefined;
      },
      Math.min(SWEEP_MS, idleMs),
    );
    sweep.unref();
  }

  async function drop(slot: Slot): Promise<void> {
    const record = records.get(slot.service);
    if (record) forget(record, slot);
    await slot.connection.close();
  }

  async function retire(slot: Slot): Promise<void> {
    const record = records.get(slot.service);
    const known = record && [...record.open].find((one) => one === slot);
    if (!known) return;
    if (!known.retired) record.slots.delete(known.key);
    known.retired = true;
    if (known.running === 0) await drop(known);
  }

  async function end(record: ServiceRecord): Promise<void> {
    await Promise.all([...record.open].map((slot) => slot.connection.close()));
    for (const slot of record.open) lost(slot);
    record.open.clear();
    for (const wake of record.waiting.splice(0)) wake();
  }

  return {
    async use(entry, caller, interactive, work) {
      const slot = await choose(entry, caller, interactive);
      slot.callers.add(caller);
      slot.running++;
      try {
        const result = await work(slot);
        toRecord(entry.id).failures = 0;
        return result;
      } finally {
        slot.callers.delete(caller);
        slot.usedAt = performance.now();
        slot.leased = false;
        toRecord(entry.id).waiting.shift()?.();
        slot.running--;
        if (slot.retired && slot.running === 0) void drop(slot);
      }
    },
    ofSession: (session) =>
      [...records.values()].flatMap(({ open: slots }) => [...slots].filter(({ owner }) => owner === session)),
    ofService: (service) => [...(records.get(service)?.open ?? [])],
    drop,
    retire,
    async endSession(session) {
      await Promise.all(this.ofSession(session).map(drop));
    },
    async reset(service) {
      const record = records.get(service);
      records.delete(service);
      if (record) await end(record);
    },
    state(entry) {
      const record = records.get(entry.id);
      const lastError = record?.lastError ?? null;
      if (!entry.enabled) return { state: "disabled", lastError };
      if (record?.open.size) return { state: "running", lastError };
      if (record?.starting) return { state: "starting", lastError };
      return { state: lastError === null ? "idle" : "failed", lastError };
    },
    async close() {
      clearInterval(sweep);
      const all = [...records.values()];
      records.clear();
      await Promise.all(all.map(end));
      watchdog.close();
    },
  };
}
