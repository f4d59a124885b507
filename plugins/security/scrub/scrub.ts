/** Removes revoked secrets from all that is stored, and on request from the logs at their assistants. Service "scrub". */
import { randomUUID } from "node:crypto";
import { createQueue, type Kernel, type PoolTask, type Services, SessarcError, toMessage } from "sessarc";
import { readValue } from "../secrets/leaks/read-value.ts";
import { hasSecret, maskBytes, type ScrubJob } from "./job.ts";
import { type MaskKey, toKeys } from "./keys.ts";
import type { Masked } from "./mask.ts";
import { findFiles } from "./named.ts";
import { createOriginals, Stays } from "./originals.ts";
import { createScrubStore, type RevokedRow } from "./store.ts";
import type { Scrubbed, ScrubSession, ScrubState, Unscrubbed } from "./types.ts";

export interface Scrub {
  state(): Promise<ScrubState>;
  /** `ids`: these secrets, else all that are marked as revoked. Without `write` it is only looked for. Throws LEAK_NOT_FOUND, LEAK_NOT_REVOKED. */
  run(options: { ids?: readonly string[] | undefined; originals: boolean; write: boolean }): Promise<Scrubbed>;
  /** Puts the logs at assistants back, of these sessions or of all; what is stored stays without the secrets. */
  undo(sessions?: readonly string[]): Promise<Unscrubbed>;
  /** Removes the copies of changed logs: then no undo is possible. Answers how many. */
  dropBackups(): Promise<number>;
  /** A session was stored again: its assistant may have written to its log. */
  settle(session: string): Promise<void>;
  /** For an import: the masks of sessions. */
  readonly masks: Services["masks"];
}

const MODULE = "sessarc/plugins/security/scrub/mask";
const JOB = "sessarc/plugins/security/scrub/job";
const HAS: PoolTask<[ScrubJob], boolean> = { specifier: JOB, export: "hasSecret", inline: hasSecret };
const MASK: PoolTask<[ScrubJob], Masked | undefined> = { specifier: JOB, export: "maskBytes", inline: maskBytes };

/** A session that was written since may be running. */
const RESTS_MS = 10 * 60_000;

type Rewrite = Parameters<Services["archive"]["rewrite"]>[0];
type Secret = RevokedRow & { sums: MaskKey[] };

export function createScrub(kernel: Kernel): Scrub {
  const store = createScrubStore(kernel.storage.db);
  const originals = createOriginals(kernel, store);
  const queue = createQueue();

  /** Those whose values are known, or were once. */
  async function readSecrets(ids: readonly string[] | undefined, left: Scrubbed["left"]): Promise<Secret[]> {
    const rows = await store.secrets(ids);
    const missing = ids?.find((id) => !rows.some((row) => row.id === id));
    if (missing !== undefined) throw new SessarcError("LEAK_NOT_FOUND", { id: missing });
    const secrets: Secret[] = [];
    for (const row of rows) {
      if (row.state !== "rotated") throw new SessarcError("LEAK_NOT_REVOKED", { id: row.id });
      const sums = row.keys === null ? await makeSums(row.id) : (JSON.parse(row.keys) as MaskKey[]);
      if (sums.length > 0) secrets.push({ ...row, sums });
      else
        left.push({
          what: row.masked,
          reason: "no message holds it any more, or it is too short",
        });
    }
    return secrets;
  }

  const makeSums = async (id: string) => {
    const value = await readValue(kernel, id);
    return value === undefined ? [] : toKeys(value);
  };

  async function run({ ids, originals: also, write }: Parameters<Scrub["run"]>[0]): Promise<Scrubbed> {
    const left: Scrubbed["left"] = [];
    const secrets = await readSecrets(ids, left);
    const done: Scrubbed = {
      ...{ written: write, secrets: secrets.map(({ id, rule_id, masked }) => ({ id, ruleId: rule_id, masked })) },
      ...{ sessions: [], elsewhere: { catalogue: 0, net: 0 }, originals: [], left, named: [] },
    };
    if (secrets.length === 0) return done;
    const keys = toShared(secrets.flatMap(({ sums }) => sums));
    const id = randomUUID();
    const has = (bytes: Uint8Array) => kernel.pool.run(HAS, { id, keys, bytes });
    const mask = (bytes: Uint8Array) => kernel.pool.run(MASK, { id, keys, bytes });
    const active = await store.active(Date.now() - RESTS_MS);
    const known = await store.sessions(secrets.map((secret) => secret.id));
    const sought = await pass({ has, mask, active, known, write: false });
    for (const session of known) if (!active.has(session)) sought.sessions.add(session);
    if (write) {
      const at = new Date().toISOString();
      const named = secrets.map(({ sums, ...secret }) => ({ ...secret, keys: sums }));
      await kernel.storage.db.batch(
        await store.begin(
          named,
          new Map([...sought.sessions].map((session) => [session, countOf(sought, session)])),
          at,
        ),
      );
      // Whatever a kill leaves undone, the next run finds by the sums.
      const written = await pass({ has, mask, active, known: sought.sessions, write: true });
      left.push(...written.left);
    } else left.push(...sought.left);
    done.sessions = [...sought.bySession.values()];
    done.elsewhere = sought.elsewhere;
    for (const session of [...known, ...sought.active])
      if (active.has(session) && !left.some(({ what }) => what === session))
        left.push({ what: session, reason: "it runs, or was written within the last ten minutes" });
    if (also) for (const session of sought.sessions) await scrubOriginals(session, mask, write, done);
    done.named = await findFiles(kernel, has);
    return done;
  }

  interface Pass {
    sessions: Set<string>;
    bySession: Map<string, ScrubSession>;
    /** Those that hold it and stay. */
    active: Set<string>;
    elsewhere: Scrubbed["elsewhere"];
    left: Scrubbed["left"];
  }

  async function pass(options: {
    has: Rewrite["has"];
    mask: Rewrite["mask"];
    active: ReadonlySet<string>;
    known: ReadonlySet<string>;
    write: boolean;
  }): Promise<Pass> {
    const { active, known, ...rest } = options;
    const made: Pass = {
      ...{ sessions: new Set(), bySession: new Map(), active: new Set() },
      ...{ elsewhere: { catalogue: 0, net: 0 }, left: [] },
    };
    await kernel.inject("archive").rewrite({
      ...rest,
      sessions: known,
      stays: (session) => active.has(session),
      found({ place, session, count, left }) {
        if (left > 0)
          made.left.push({
            what: session ?? place,
            reason: `${left} places of its ${place} cannot be replaced or read`,
          });
        if (count === 0) return;
        if (session === null) {
          if (place === "net" || place === "catalogue") made.elsewhere[place] += count;
          return;
        }
        made.sessions.add(session);
        const one = made.bySession.get(session) ?? { id: session, transcript: 0, log: 0, catalogue: 0 };
        if (place !== "net") one[place] += count;
        made.bySession.set(session, one);
      },
    });
    return made;
  }

  const countOf = ({ bySession }: Pass, session: string) => {
    const one = bySession.get(session);
    return one ? Math.max(one.transcript, one.log) : 0;
  };

  async function scrubOriginals(
    session: string,
    mask: (bytes: Uint8Array) => Promise<Masked | undefined>,
    write: boolean,
    done: Scrubbed,
  ): Promise<void> {
    const row = await kernel.inject("archive").find(session);
    if (!row || row.source.missing) return;
    if (!row.source.exclusive) {
      done.left.push({ what: session, reason: "its log is a database of its assistant, which is not written" });
      return;
    }
    const { path, companions, bytes: size, mtime } = row.source;
    let isClean = true;
    for (const file of await originals.files({ path, companions })) {
      try {
        const known = file === path ? { size, mtime } : undefined;
        const one = write ? await originals.scrub(session, file, known, mask) : await originals.look(file, mask);
        if (one) done.originals.push({ session, path: file, ...one });
      } catch (error) {
        if (!(error instanceof Stays)) throw error;
        isClean = false;
        done.left.push({ what: file, reason: toMessage(error) });
      }
    }
    if (write && isClean) await store.setOriginal(session, true);
  }

  return {
    async state() {
      const [revoked, files, counted] = await Promise.all([store.secrets(undefined), store.files(), store.counted()]);
      return {
        revoked: revoked.length,
        secrets: counted.secrets.map(({ fingerprint, rule_id, masked }) => ({
          id: fingerprint,
          ruleId: rule_id,
          masked,
        })),
        sessions: counted.sessions,
        backups: files.map(({ session, path, backup, at }) => ({ session, path, backup, at })),
      };
    },
    run: (options) => queue(() => run(options)),
    undo: (sessions) =>
      queue(async () => {
        const done: Unscrubbed = { restored: [], left: [] };
        for (const file of await store.files()) {
          if (sessions && !sessions.includes(file.session)) continue;
          try {
            await originals.undo(file);
            await store.setOriginal(file.session, false);
            done.restored.push(file.path);
          } catch (error) {
            if (!(error instanceof Stays)) throw error;
            done.left.push({ what: file.path, reason: toMessage(error) });
          }
        }
        return done;
      }),
    dropBackups: () => queue(() => originals.drop()),
    // Not in the queue: a scrub waits for imports, which report what they stored.
    settle: (session) => originals.settle(session),
    masks: {
      async of(ids) {
        const keys = await store.keysOf(ids);
        return new Map([...keys].map(([session, sums]) => [session, { module: MODULE, keys: sums }]));
      },
      async removed(id) {
        const row = await store.removed(id);
        return row && row.at !== null ? { count: row.count, at: row.at, original: row.original === 1 } : undefined;
      },
    },
  };
}

/** Memory that threads share: thousands of sums are not copied for each piece. */
function toShared(keys: readonly MaskKey[]): SharedArrayBuffer {
  const bytes = Buffer.from(JSON.stringify(keys));
  const shared = new SharedArrayBuffer(bytes.length);
  new Uint8Array(shared).set(bytes);
  return shared;
}
