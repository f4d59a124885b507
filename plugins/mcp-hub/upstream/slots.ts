/** Connections as the pool keeps them, and who uses them. */
import type { JsonRecord } from "sessarc";
import type { Connection, Protocol } from "./connection.ts";

/** The caller a request is made for. */
export interface Caller {
  /** Its own connections have this name until `endSession`. */
  readonly session: string;
  readonly protocol: Protocol;
  /** What the client can be asked for: sampling, elicitation, roots. Empty: it is asked nothing. */
  readonly capabilities: JsonRecord;
  /** It declares the skills extension. */
  readonly skills?: boolean | undefined;
  /** Large results may be bytes (`bytesOf`). */
  readonly takesBytes?: boolean | undefined;
  /** A request to the client, in the course of what it asked. */
  ask?: ((method: string, params: JsonRecord, signal: AbortSignal) => Promise<JsonRecord>) | undefined;
  /** A notification in the course of what it asked. */
  tell(method: string, params: JsonRecord): void;
}

/** A connection in use, and who uses it right now. */
export interface Slot {
  readonly service: string;
  readonly key: string;
  /** The client it belongs to; undefined for a shared one. */
  readonly owner: string | undefined;
  readonly callers: Set<Caller>;
  readonly connection: Connection;
  /** Addresses that clients subscribed to, with what ends each subscription (modern services). The connection stays open for them. */
  readonly subscriptions: Map<string, () => Promise<void>>;
}

export interface PoolEvents {
  onOpen(slot: Slot): void;
  onRequest(slot: Slot, method: string, params: JsonRecord, signal: AbortSignal): Promise<JsonRecord>;
  onNotification(slot: Slot, method: string, params: JsonRecord): void;
  /** A connection is gone that these addresses were subscribed over. */
  onLost(service: string, uris: readonly string[]): void;
}

export const isIdle = ({ callers, subscriptions }: Slot) => callers.size === 0 && subscriptions.size === 0;

/** The first failure may be tried again at once; then after 1, 2, 4 … seconds, at most a minute. */
export const waitAfter = (failures: number) => (failures < 2 ? 0 : Math.min(60_000, 1_000 * 2 ** (failures - 2)));

export interface OpenSlot extends Slot {
  key: string;
  usedAt: number;
  /** Lent to one caller alone. */
  leased: boolean;
  /** Requests over it right now: one caller may have several. */
  running: number;
  /** New requests get another one; it ends with the last request over it. */
  retired: boolean;
}
export interface ServiceRecord {
  slots: Map<string, Promise<OpenSlot>>;
  open: Set<OpenSlot>;
  starting: number;
  failures: number;
  retryAt: number;
  lastError: string | null;
  /** What is known of the protocol versions it speaks. */
  modern?: boolean;
  legacy?: boolean;
  /** How many were ever opened. */
  leases: number;
  waiting: (() => void)[];
}

export const emptyRecord = (): ServiceRecord => ({
  slots: new Map(),
  open: new Set(),
  starting: 0,
  failures: 0,
  retryAt: 0,
  lastError: null,
  leases: 0,
  waiting: [],
});
