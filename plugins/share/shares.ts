/** Making, listing, revoking and opening shares. Service "shares". */
import { createHash, randomBytes } from "node:crypto";
import { createQueue, type Kernel, mustYield, SessarcError, yieldNow } from "sessarc";
import { serviceUrl } from "sessarc/serve";
import { createShareStore, type ShareRow } from "./store.ts";

export interface Share {
  id: string;
  sessionId: string;
  /** As the page shows it: redacted. */
  title: string;
  createdAt: string;
  expiresAt: string;
  views: number;
  state: "active" | "expired" | "revoked";
  redactions: Record<string, number>;
}

export interface CreatedShare {
  id: string;
  /** Shown this once: only its SHA-256 is kept. */
  token: string;
  url: string;
  expiresAt: string;
  redactions: Record<string, number>;
}

interface OpenedShare {
  id: string;
  page: string;
  fileName: string;
}

export interface Shares {
  /** Freezes a redacted copy. Throws SESSION_NOT_FOUND, EXPORT_LEAKS. */
  create(sessionId: string, days: number): Promise<CreatedShare>;
  list(): Promise<Share[]>;
  /**
   * From now on the token opens nothing. Deletes the copy, with `undo` after two minutes; answers for how many ms `restore` works, 0 without.
   * Throws SHARE_NOT_FOUND; revoking twice is fine.
   */
  revoke(id: string, options?: { undo?: boolean }): Promise<number>;
  /** Makes a share that was revoked with `undo` active again. Throws SHARE_NOT_FOUND, SHARE_ENDED. */
  restore(id: string, now?: number): Promise<Share>;
  /** The page behind a token; undefined for unknown, expired and revoked alike. */
  open(token: string, now?: number): Promise<OpenedShare | undefined>;
  /** The page of an active share, for who made it: the token is not needed, and nothing is counted. Throws SHARE_NOT_FOUND, SHARE_ENDED. */
  page(id: string, now?: number): Promise<OpenedShare>;
  /** Counts a view, as far as that can be written. */
  viewed(id: string): Promise<void>;
  /** Ids of shares whose frozen copy is not what was frozen. */
  damaged(signal?: AbortSignal): Promise<string[]>;
  /** Deletes the copies of shares that expired, or whose revocation can no longer be undone. Answers how many. */
  expire(now?: number): Promise<number>;
  /** Forgets titles and all else of shares that ended and whose copies are deleted. */
  forgetEnded(): Promise<void>;
  start(): void;
  /** Resolves when what was begun is done. */
  stop(): Promise<void>;
}

const DAY = 86_400_000;
const LOOK_MS = 60_000;
/** In which a revocation can be undone. */
const UNDO_MS = 120_000;
const sha256 = (data: string | Uint8Array) => createHash("sha256").update(data).digest("hex");

export function createShares(kernel: Kernel): Shares {
  const store = createShareStore(kernel.storage.db);
  const { files } = kernel.storage;
  /** Bodies whose row is on its way. */
  const making = new Set<string>();
  /** Until when a revoked share can be restored, in ms. In memory alone: a restart ends it. */
  const undoable = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  /** Sweeps and restores run one at a time: a copy that is due is never that of a share just restored. */
  const sequentially = createQueue();

  const pageKey = (id: string) => `shares:${id}.html`;
  const treeKey = (id: string) => `shares:${id}.json`;

  async function known(id: string): Promise<ShareRow> {
    const row = await store.byId(id);
    if (!row) throw new SessarcError("SHARE_NOT_FOUND", { id });
    return row;
  }

  /** Undefined where the share has ended, or its copy is not what was frozen; the doctor names those. */
  async function readPage(row: ShareRow, now: number): Promise<OpenedShare | undefined> {
    if (row.revoked_at !== null || row.expires_at <= now) return undefined;
    const page = await files.getItemRaw<Uint8Array>(pageKey(row.id));
    if (!page || (await isDamaged(row, page))) return undefined;
    return { id: row.id, page: Buffer.from(page).toString("utf8"), fileName: row.file_name };
  }

  async function removeBody(id: string): Promise<void> {
    await Promise.all([files.removeItem(pageKey(id)), files.removeItem(treeKey(id))]);
    await store.bodyGone(id);
  }

  async function expire(now = Date.now()): Promise<number> {
    let deleted = 0;
    for (const { id } of await store.due(now)) {
      if ((undoable.get(id) ?? 0) > now) continue;
      undoable.delete(id);
      await removeBody(id);
      deleted++;
    }
    return deleted;
  }

  /** What a kill left between a body and its row, either way. */
  async function sweep(): Promise<void> {
    // In this order: a share with a body by then is being created, or has a row by now.
    const keys = await files.getKeys("shares");
    const busy = new Set(making);
    const wanted = new Set(await store.withBody());
    const there = new Set<string>();
    for (const key of keys) {
      const [, id = "", kind] = /^shares:([0-9a-f]{16})\.(html|json)$/.exec(key) ?? [];
      if (id === "" || busy.has(id)) continue;
      if (!wanted.has(id)) await files.removeItem(key);
      else if (kind === "html") there.add(id);
    }
    for (const id of wanted) if (!there.has(id) && (await files.getItemRaw(pageKey(id))) === null) await removeBody(id);
  }

  return {
    async create(sessionId, days) {
      const now = Date.now();
      const expires = now + Math.round(days * DAY);
      const redactor = kernel.inject("redactor");
      const frozen = await redactor.freeze(sessionId, new Date(expires).toISOString());
      const { title, page, tree, fileName, redactions } = frozen;
      const id = randomBytes(8).toString("hex");
      const token = randomBytes(32).toString("base64url");
      const row: ShareRow = {
        id,
        token_hash: sha256(token),
        session_id: sessionId,
        title: title.slice(0, 500),
        file_name: fileName,
        redactions: JSON.stringify(redactions),
        created_at: now,
        expires_at: expires,
        revoked_at: null,
        has_body: 1,
        views: 0,
        checksum: sha256(page),
      };
      making.add(id);
      try {
        await files.setItemRaw(pageKey(id), Buffer.from(page));
        await files.setItemRaw(treeKey(id), Buffer.from(tree));
        await store.insert(row);
      } catch (error) {
        await removeBody(id);
        throw error;
      } finally {
        making.delete(id);
      }
      await kernel.notify("share:created", toShare(row, now));
      return {
        id,
        token,
        url: `${serviceUrl(kernel)}share/${token}`,
        expiresAt: new Date(row.expires_at).toISOString(),
        redactions,
      };
    },
    async list() {
      const now = Date.now();
      return (await store.all()).map((row) => toShare(row, now));
    },
    async revoke(id, { undo = false } = {}) {
      const row = await known(id);
      const now = Date.now();
      if (!undo) undoable.delete(id);
      else if (row.revoked_at === null) undoable.set(id, now + UNDO_MS);
      // First the catalogue: from then on the token opens nothing, whatever happens to the file.
      if (row.revoked_at === null) await store.revoke(id, now);
      const left = (undoable.get(id) ?? now) - now;
      if (left <= 0) await removeBody(id);
      await kernel.notify("share:revoked", { id });
      return left;
    },
    restore: (id, now = Date.now()) =>
      sequentially(async () => {
        const row = await known(id);
        if (row.revoked_at !== null) {
          const isOpen = (undoable.get(id) ?? 0) > now && row.expires_at > now;
          if (!isOpen) throw new SessarcError("SHARE_ENDED", { id, session: row.session_id });
          await store.restore(id);
          undoable.delete(id);
          await kernel.notify("share:restored", { id });
        }
        return toShare({ ...row, revoked_at: null }, now);
      }),
    async open(token, now = Date.now()) {
      const row = await store.byHash(sha256(token));
      return row && readPage(row, now);
    },
    async page(id, now = Date.now()) {
      const row = await known(id);
      const page = await readPage(row, now);
      if (!page) throw new SessarcError("SHARE_ENDED", { id, session: row.session_id });
      return page;
    },
    async viewed(id) {
      try {
        await store.viewed(id);
      } catch (error) {
        // The visitor does not wait for room on this disk.
        await kernel.notify("listener:failed", error, { hook: "shares" });
      }
      await kernel.notify("share:viewed", { id });
    },
    async damaged(signal) {
      const found: string[] = [];
      for (const row of await store.all()) {
        signal?.throwIfAborted();
        const page = row.has_body === 1 ? await files.getItemRaw<Uint8Array>(pageKey(row.id)) : null;
        if (page && (await isDamaged(row, page))) found.push(row.id);
      }
      return found;
    },
    expire: (now) => sequentially(() => expire(now)),
    async forgetEnded() {
      await sequentially(() => expire());
      await store.forgetEnded(Date.now());
    },
    start() {
      const failed = (error: unknown) => kernel.notify("listener:failed", error, { hook: "shares" });
      const run = (work: () => Promise<unknown>) => void sequentially(work).catch(failed);
      run(sweep);
      // A share revoked when the service was killed: its body is deleted now, not at the first read.
      run(expire);
      timer = setInterval(() => run(expire), LOOK_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await sequentially.idle();
      for (const id of undoable.keys()) await removeBody(id);
      undoable.clear();
    },
  };
}

/** A page may have many megabytes: others get their turn between its pieces. */
async function isDamaged({ checksum }: ShareRow, page: Uint8Array): Promise<boolean> {
  const hash = createHash("sha256");
  for (let at = 0; at < page.length; at += PIECE) {
    hash.update(page.subarray(at, at + PIECE));
    if (mustYield()) await yieldNow();
  }
  return hash.digest("hex") !== checksum;
}
/** Bytes hashed between two reads of the clock: about half a millisecond. */
const PIECE = 1 << 19;

function toShare(row: ShareRow, now: number): Share {
  return {
    id: row.id,
    sessionId: row.session_id,
    title: row.title,
    createdAt: new Date(row.created_at).toISOString(),
    expiresAt: new Date(row.expires_at).toISOString(),
    views: row.views,
    // One whose copy is gone opens nothing any more.
    state:
      row.revoked_at !== null
        ? "revoked"
        : row.expires_at <= now
          ? "expired"
          : row.has_body === 0
            ? "revoked"
            : "active",
    redactions: JSON.parse(row.redactions) as Record<string, number>,
  };
}
