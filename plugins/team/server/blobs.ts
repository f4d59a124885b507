/** Chunks of pushed sessions, by the SHA-256 of what they hold. Stored compressed; a chunk is there only for the people that sent it. */
import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { type Database, marks, pages, SessarcError, type Storage } from "sessarc";

/** Bytes of what is in a chunk: a machine cuts its pieces at one MiB. */
const MOST_INFLATED = 2 * 2 ** 20;
/** Bytes of a body: what does not compress becomes a little longer. */
export const MOST_PACKED = MOST_INFLATED + 2 ** 16;

/** What is in a chunk. */
export interface ChunkSize {
  bytes: number;
  lines: number;
}

const inflate = promisify(gunzip);
const deflate = promisify(gzip);
const toKey = (sha256: string) => `team:blob:${sha256.slice(0, 2)}:${sha256}`;

/** Hashes of one query. */
const TOGETHER = 500;

export type BlobStore = ReturnType<typeof createBlobStore>;

export function createBlobStore(db: Database, tenant: number, files: Storage["files"]) {
  const store = async (person: string, sha256: string, packed: Uint8Array, { bytes, lines }: ChunkSize) => {
    await files.setItemRaw(toKey(sha256), packed);
    await db.run(
      "insert into team_blob (tenant, person, sha256, bytes, at, inflated, lines) values (?, ?, ?, ?, ?, ?, ?) on conflict do nothing",
      [tenant, person, sha256, packed.length, Date.now(), bytes, lines],
    );
  };
  /** Of a chunk that an earlier version stored without its size. */
  async function measure(sha256: string): Promise<ChunkSize> {
    const size = sizeOf(await self.load(sha256));
    await db.run("update team_blob set inflated = ?, lines = ? where tenant = ? and sha256 = ?", [
      ...[size.bytes, size.lines],
      ...[tenant, sha256],
    ]);
    return size;
  }

  const self = {
    /** Stores a chunk for `person`. Throws TEAM_BLOB_WRONG for other content than the name says, and for what is too large when inflated. */
    async put(person: string, sha256: string, packed: Uint8Array): Promise<void> {
      const wrong = (reason: string, cause?: unknown) =>
        new SessarcError("TEAM_BLOB_WRONG", { sha256, reason }, { cause });
      const bytes = await inflate(packed, { maxOutputLength: MOST_INFLATED }).catch((cause: unknown) => {
        throw wrong("its body is not gzip data of at most 2 MiB", cause);
      });
      if (createHash("sha256").update(bytes).digest("hex") !== sha256) throw wrong("its SHA-256 is another one");
      await store(person, sha256, packed, sizeOf(bytes));
    },

    /** Stores a chunk that this server made. */
    async add(person: string, sha256: string, bytes: Buffer): Promise<void> {
      const [missing] = await self.missing(person, [sha256]);
      if (missing !== undefined) await store(person, sha256, await deflate(bytes), sizeOf(bytes));
    },

    /** Those of `hashes` that `person` has not sent. */
    async missing(person: string, hashes: readonly string[]): Promise<string[]> {
      const wanted = new Set(hashes);
      for (const page of pages([...wanted], TOGETHER)) {
        const rows = await db.all<{ sha256: string }>(
          `select sha256 from team_blob where tenant = ? and person = ? and sha256 in (${marks(page)})`,
          [tenant, person, ...page],
        );
        for (const { sha256 } of rows) wanted.delete(sha256);
      }
      return [...wanted];
    },

    /** Of those of `hashes` that `person` has sent. */
    async sizes(person: string, hashes: readonly string[]): Promise<Map<string, ChunkSize>> {
      const sizes = new Map<string, ChunkSize>();
      for (const page of pages([...new Set(hashes)], TOGETHER)) {
        const rows = await db.all<{ sha256: string; inflated: number | null; lines: number | null }>(
          `select sha256, inflated, lines from team_blob where tenant = ? and person = ? and sha256 in (${marks(page)})`,
          [tenant, person, ...page],
        );
        for (const { sha256, inflated, lines } of rows)
          sizes.set(sha256, inflated === null || lines === null ? await measure(sha256) : { bytes: inflated, lines });
      }
      return sizes;
    },

    /** The inflated bytes. Throws TEAM_BLOBS_MISSING, and forgets the chunk, where its file is gone or holds something else. */
    async load(sha256: string): Promise<Uint8Array> {
      const packed = await files.getItemRaw(toKey(sha256));
      const bytes = packed && (await inflate(packed, { maxOutputLength: MOST_INFLATED }).catch(() => undefined));
      if (bytes && createHash("sha256").update(bytes).digest("hex") === sha256) return bytes;
      await db.run("delete from team_blob where tenant = ? and sha256 = ?", [tenant, sha256]);
      throw new SessarcError("TEAM_BLOBS_MISSING", { missing: sha256 });
    },

    /** Notes which chunks a session is made of. */
    async use(session: string, hashes: readonly string[]): Promise<void> {
      for (const page of pages([...new Set(hashes)], TOGETHER))
        await db.run(
          `insert into team_session_blob (tenant, session, sha256) values ${page.map(() => "(?, ?, ?)").join(", ")}
           on conflict do nothing`,
          page.flatMap((sha256) => [tenant, session, sha256]),
        );
    },

    /** Drops chunks that a session is no longer made of, except `kept`, where no other session of the person needs them. */
    async release(person: string, session: string, kept: readonly string[] = []): Promise<void> {
      const keep = new Set(kept);
      const rows = await db.all<{ sha256: string }>(
        "select sha256 from team_session_blob where tenant = ? and session = ?",
        [tenant, session],
      );
      const gone = rows.flatMap(({ sha256 }) => (keep.has(sha256) ? [] : sha256));
      for (const page of pages(gone, TOGETHER)) {
        await db.run(
          `delete from team_blob b where b.tenant = ? and b.person = ? and b.sha256 in (${marks(page)})
           and not exists (select 1 from team_session_blob u join team_session s on s.tenant = u.tenant and s.session = u.session
             where u.tenant = b.tenant and u.sha256 = b.sha256 and s.person = b.person and u.session <> ?)`,
          [tenant, person, ...page, session],
        );
        await self.sweep(page);
        // Last: what is killed before is named by these rows, and removed by the next release.
        await db.run(`delete from team_session_blob where tenant = ? and session = ? and sha256 in (${marks(page)})`, [
          tenant,
          session,
          ...page,
        ]);
      }
    },

    /** Chunks that were sent and never became part of a session, `days` after. */
    async prune(days: number): Promise<void> {
      const unused = `from team_blob b where b.tenant = ? and b.at < ? and not exists (
        select 1 from team_session_blob u where u.tenant = b.tenant and u.sha256 = b.sha256)`;
      const before = [tenant, Date.now() - days * 86_400_000];
      const rows = await db.all<{ sha256: string }>(`select b.sha256 ${unused}`, before);
      if (rows.length > 0) await db.run(`delete ${unused}`, before);
      await self.sweep(rows.map(({ sha256 }) => sha256));
    },

    /** Chunks that have a file. */
    async files(): Promise<string[]> {
      const keys = await files.getKeys("team:blob");
      return keys.flatMap((key) => /([0-9a-f]{64})$/.exec(key)?.[1] ?? []);
    },

    /** Those of `hashes` that no person has. */
    async unknown(hashes: readonly string[]): Promise<string[]> {
      const rows = await db.all<{ sha256: string }>(
        `select distinct sha256 from team_blob where tenant = ? and sha256 in (${marks(hashes)})`,
        [tenant, ...hashes],
      );
      const held = new Set(rows.map(({ sha256 }) => sha256));
      return hashes.filter((sha256) => !held.has(sha256));
    },

    /** Removes the files of chunks that no person has any more. A chunk that is sent at this moment fails its import and is sent again. */
    async sweep(hashes: readonly string[]): Promise<void> {
      for (const page of pages([...new Set(hashes)], TOGETHER))
        for (const sha256 of await self.unknown(page)) await files.removeItem(toKey(sha256));
    },
  };
  return self;
}

function sizeOf(bytes: Uint8Array): ChunkSize {
  let lines = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++;
  return { bytes: bytes.length, lines };
}
