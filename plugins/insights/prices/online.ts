/** The published price table: fetched on request or once a week, and only after the user agreed to its address. */
import { createQueue, isRecord, type Kernel, SessarcError, toMessage } from "sessarc";
import type { PriceUpdate } from "./config.ts";
import { fetchTable } from "./fetch.ts";
import { replaceTable } from "./replace.ts";
import { toTable } from "./table.ts";

/** What GET /prices says about fetching. Times are ISO 8601. */
export interface OnlineState {
  /** From where the table is fetched. */
  address: string;
  update: PriceUpdate;
  /** When the user agreed to fetch from `address`; null: not, or the consent was withdrawn. Without it nothing is requested. */
  consent: string | null;
  /** When the table in force was fetched; null for any other table. */
  fetchedAt: string | null;
  /** When the server last sent the table, or confirmed that it is unchanged. */
  checkedAt: string | null;
  /** When the service fetches next; null: never. */
  next: string | null;
  /** Why the last attempt failed; null when it did not. */
  failure: { at: string; reason: string } | null;
}

export interface Online {
  state(): Promise<OnlineState>;
  /** Stores that the user agreed to requests to `address`. Throws PRICE_CONSENT_NEEDED when another one is configured. */
  agree(address: string): Promise<void>;
  withdraw(): Promise<void>;
  /** Throws PRICE_CONSENT_NEEDED, PRICE_FETCH_FAILED, PRICE_TABLE_INVALID, PRICE_TABLE_OLDER. Callers at the same time share one request. */
  fetch(): Promise<void>;
  /** Fetches when a week has passed, and the configuration and the user allow it. A failure is stored. */
  fetchIfDue(): Promise<void>;
  close(): Promise<void>;
}

interface Stored {
  consent?: { address: string; at: string };
  /** The table that was fetched last. */
  table?: { id: string; address: string; etag?: string; at: string };
  /** The last attempt. `answered`: by a server, whatever it said. */
  attempt?: { at: string; answered: boolean; reason?: string };
  checkedAt?: string;
}

const KEY = "insights:price-fetch.json";
const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

export function createOnline(kernel: Kernel): Online {
  const { storage, config } = kernel;
  const { files } = storage;
  const closing = new AbortController();
  let running: Promise<void> | undefined;
  /** Writers wait for each other. */
  const writing = createQueue();

  const read = async (): Promise<Stored> => toStored(await files.getItem(KEY));
  function write(change: (now: Stored) => Stored): Promise<void> {
    if (storage.readOnly) return Promise.reject(new SessarcError("STORAGE_READ_ONLY", { path: storage.dataDir }));
    return writing(async () => files.setItem(KEY, JSON.stringify(change(await read()))));
  }

  const hasConsent = ({ consent }: Stored) => consent?.address === config.priceTable.address;

  /** ms; undefined: never. A server that answered is asked again after a week, an unreachable one after a day. */
  function pickNext(stored: Stored): number | undefined {
    if (config.priceTable.update !== "weekly" || !hasConsent(stored) || storage.readOnly) return undefined;
    const { attempt } = stored;
    if (!attempt) return 0;
    const at = Date.parse(attempt.at);
    // The clock was set back: the time of the attempt means nothing.
    if (at > Date.now() + DAY_MS) return 0;
    return at + (attempt.answered ? WEEK_MS : DAY_MS);
  }

  async function request(): Promise<void> {
    const stored = await read();
    const { address } = config.priceTable;
    if (!hasConsent(stored)) throw new SessarcError("PRICE_CONSENT_NEEDED", { address });
    if (storage.readOnly) throw new SessarcError("STORAGE_READ_ONLY", { path: storage.dataDir });
    const { pricing } = kernel.inject("insights");
    const known = stored.table?.id === pricing.table.id && stored.table.address === address ? stored.table : undefined;
    const signal = AbortSignal.any([closing.signal, kernel.closing]);
    const fetched = await fetchTable(address, known?.etag, signal);
    const at = new Date().toISOString();
    try {
      if (fetched.kind === "failed") throw new SessarcError("PRICE_FETCH_FAILED", { address, reason: fetched.reason });
      if (fetched.kind === "unchanged") {
        await write((now) => ({ ...now, attempt: { at, answered: true }, checkedAt: at }));
        return;
      }
      // The file has no date. A server without one sends the prices of today.
      const date = new Date(Math.min(fetched.modified ?? Date.now(), Date.now())).toISOString().slice(0, 10);
      const table = await toTable({ date, source: address, providers: fetched.providers });
      if (date < pricing.table.date)
        throw new SessarcError("PRICE_TABLE_OLDER", { address, date, inForce: pricing.table.date });
      // Asked again: the user may have withdrawn the consent meanwhile.
      if (!hasConsent(await read())) throw new SessarcError("PRICE_CONSENT_NEEDED", { address });
      await replaceTable(kernel, table);
      const { etag } = fetched;
      await write((now) => ({
        ...now,
        table: { id: table.id, address, at, ...(etag !== undefined && { etag }) },
        attempt: { at, answered: true },
        checkedAt: at,
      }));
    } catch (error) {
      const answered = fetched.kind !== "failed" || fetched.answered;
      await write((now) => ({ ...now, attempt: { at, answered, reason: toMessage(error) } }));
      throw error;
    }
  }

  const online: Online = {
    async state() {
      const stored = await read();
      const { address, update } = config.priceTable;
      const { table, attempt, checkedAt } = stored;
      const inForce = table?.id === kernel.inject("insights").pricing.table.id;
      const next = pickNext(stored);
      return {
        address,
        update,
        consent: hasConsent(stored) ? (stored.consent?.at ?? null) : null,
        fetchedAt: inForce ? table.at : null,
        checkedAt: inForce ? (checkedAt ?? null) : null,
        next: next === undefined ? null : new Date(Math.max(next, Date.now())).toISOString(),
        failure: attempt?.reason === undefined ? null : { at: attempt.at, reason: attempt.reason },
      };
    },
    async agree(address) {
      if (address !== config.priceTable.address)
        throw new SessarcError("PRICE_CONSENT_NEEDED", { address: config.priceTable.address });
      await write((now) => ({ ...now, consent: { address, at: new Date().toISOString() } }));
    },
    withdraw: () => write(({ consent: _, ...rest }) => rest),
    fetch() {
      running ??= request().finally(() => {
        running = undefined;
      });
      return running;
    },
    async fetchIfDue() {
      if (config.priceTable.update !== "weekly") return;
      const next = pickNext(await read());
      if (next === undefined || next > Date.now()) return;
      // GET /prices and `sessarc doctor` show why it failed.
      await online.fetch().catch(() => {});
    },
    async close() {
      closing.abort();
      await running?.catch(() => {});
      await writing.idle();
    },
  };
  return online;
}

/** A damaged file is an empty one: without a consent nothing is requested. */
function toStored(value: unknown): Stored {
  const stored: Stored = {};
  if (!isRecord(value)) return stored;
  const { consent, table, attempt, checkedAt } = value;
  if (isRecord(consent) && isText(consent.address) && isTime(consent.at))
    stored.consent = { address: consent.address, at: consent.at };
  if (isRecord(table) && isText(table.id) && isText(table.address) && isTime(table.at))
    stored.table = {
      ...{ id: table.id, address: table.address, at: table.at },
      ...(isText(table.etag) && { etag: table.etag }),
    };
  if (isRecord(attempt) && isTime(attempt.at))
    stored.attempt = {
      ...{ at: attempt.at, answered: attempt.answered === true },
      ...(isText(attempt.reason) && { reason: attempt.reason }),
    };
  if (isTime(checkedAt)) stored.checkedAt = checkedAt;
  return stored;
}

const isText = (value: unknown): value is string => typeof value === "string";
const isTime = (value: unknown): value is string => isText(value) && !Number.isNaN(Date.parse(value));
