/**
 * Parses pushed logs again when this server's adapter is newer than the one that made the stored messages. One log at a time, between pushes; what is
 * left is in the database, so a node that was killed, and every other node, goes on from there.
 */
import { isSessarcError, marks, toMessage } from "sessarc";
import type { TeamDatabase } from "../../types.ts";
import type { BlobStore } from "../blobs.ts";
import type { LogReader, ServerPlugins } from "../kernel-parts.ts";
import type { Ingest } from "./ingest.ts";
import type { PushedManifest } from "./manifest-schema.ts";
import { parseAgain } from "./parse-again.ts";

const PASSING: ReadonlySet<string> = new Set(["TEAM_BUSY", "TEAM_DATABASE_UNREACHABLE"]);
/** Sessions of one query. */
const PAGE = 200;

interface RereadState {
  /** Sessions whose messages an older adapter made, and whose log will be parsed. */
  waiting: number;
  /** Whose log could not be parsed: their messages are as they were. */
  failed: number;
  /** Whose log cannot be parsed again: it did not go along, or is not JSON lines, or was rewritten. */
  without: number;
}

export interface RereadProblem {
  session: string;
  person: string;
  /** Of the adapter that failed. */
  version: string;
  problem: string;
}

interface Row {
  session: string;
  person: string;
  digest: string;
  reader: string;
  tried: string;
}

export type Rereading = ReturnType<typeof createRereading>;

export function createRereading(parts: {
  database: TeamDatabase;
  tenant: number;
  plugins: ServerPlugins;
  blobs: BlobStore;
  ingest: Ingest;
  /** False: only `pass` parses. */
  background: boolean;
  log(line: string): void;
}) {
  const { database, tenant, plugins, blobs, ingest, log } = parts;
  const { owner } = database;
  let closed = false;
  let again = false;
  let running: Promise<void> | undefined;

  const openOf = (row: Pick<Row, "reader" | "tried">, version: string) =>
    isOlder(row.reader, version) && isOlder(row.tried, version);

  /** Rows of one assistant that this server's adapter may have to parse, a page at a time. */
  async function* readRows(tool: string, version: string): AsyncGenerator<Row[]> {
    for (let after = ""; ; ) {
      const rows = await owner.all<Row>(
        `select session, person, digest, reader, tried from team_session
         where tenant = ? and log = 1 and reader <> ? and tried <> ? and session > ? and session >= ? and session < ? order by session limit ?`,
        [tenant, version, version, after, `${tool}:`, `${tool};`, PAGE],
      );
      yield rows.filter((row) => openOf(row, version));
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      after = last.session;
    }
  }

  async function pass(): Promise<void> {
    await ingest.settle();
    for (const [tool, reader] of plugins.readers)
      for await (const rows of readRows(tool, reader.version))
        for (const row of rows) {
          if (closed) return;
          await readOne(row, reader);
        }
  }

  async function readOne({ session, person, digest, reader }: Row, { adapter, version }: LogReader): Promise<void> {
    const row = await owner.get<{ manifest: string }>(
      "select manifest from team_session where tenant = ? and session = ? and digest = ? and reader = ?",
      [tenant, session, digest, reader],
    );
    if (!row) return; // pushed or withdrawn meanwhile
    const before = JSON.parse(row.manifest) as PushedManifest;
    try {
      const manifest = await parseAgain(before, adapter, blobs.load, (sha256, bytes) =>
        blobs.add(person, sha256, bytes),
      );
      await ingest.reread({ id: session, digest, reader, manifest, version });
    } catch (error) {
      if (closed) return;
      // Not the log's fault: the next pass tries again.
      if (isSessarcError(error) && PASSING.has(error.code)) throw error;
      log(`The log of ${session} could not be parsed again, its messages are as they were: ${toMessage(error)}`);
      await ingest.noteProblem(session, digest, version, toMessage(error));
    }
  }

  return {
    /** Begins in the background, or goes over all once more after the pass under way. */
    wake(): void {
      if (closed || !parts.background) return;
      again = true;
      running ??= (async () => {
        while (again && !closed) {
          again = false;
          await pass().catch((error: unknown) => {
            if (!closed) log(`Parsing logs again was interrupted: ${toMessage(error)}`);
          });
        }
      })().finally(() => {
        running = undefined;
      });
    },

    /** Whether this version of an adapter's messages is to be replaced here. */
    isOutdated(tool: string, manifest: PushedManifest): boolean {
      const reader = plugins.readers.get(tool);
      return reader !== undefined && manifest.log !== null && isOlder(manifest.log.version, reader.version);
    },

    /** Goes over all sessions now. Rejects where the database does not answer. */
    pass,

    /** Resolves when nothing is under way. */
    async idle(): Promise<void> {
      await running;
    },

    /** Counts over the whole tenant. One pass over the sessions. */
    async state(): Promise<RereadState> {
      const state: RereadState = { waiting: 0, failed: 0, without: 0 };
      const rows = await owner.all<{
        tool: string;
        reader: string;
        tried: string;
        log: number;
        failed: number;
        n: number;
      }>(
        `select split_part(session, ':', 1) as tool, reader, tried, log, (problem <> '')::int as failed, count(*) as n from team_session
         where tenant = ? and digest <> '' group by 1, 2, 3, 4, 5`,
        [tenant],
      );
      for (const { tool, reader, tried, log, failed, n } of rows) {
        const version = plugins.readers.get(tool)?.version;
        if (log === 0 || version === undefined) state.without += n;
        else if (failed === 1) state.failed += n;
        else if (openOf({ reader, tried }, version)) state.waiting += n;
      }
      return state;
    },

    /** Sessions of these spaces whose log could not be parsed. */
    async problems(spaces: readonly number[], most: number): Promise<RereadProblem[]> {
      if (spaces.length === 0) return [];
      return owner.all<RereadProblem>(
        `select session, person, tried as version, problem from team_session
         where tenant = ? and problem <> '' and space in (${marks(spaces)}) order by session limit ?`,
        [tenant, ...spaces, most],
      );
    },

    async close(): Promise<void> {
      closed = true;
      await running;
    },
  };
}

/** Versions are numbers with dots; an empty one is older than all others. */
function isOlder(a: string, b: string): boolean {
  if (a === "" || b === "") return a === "" && b !== "";
  const numbers = (version: string) => version.split(/[-+]/, 1)[0]?.split(".").map(Number) ?? [];
  const [x, y] = [numbers(a), numbers(b)];
  for (let i = 0; i < Math.max(x.length, y.length); i++)
    if ((x[i] ?? 0) !== (y[i] ?? 0)) return (x[i] ?? 0) < (y[i] ?? 0);
  return false;
}
