/** What the rooms of the team plugin share. Types only. */
import type { Database, SessionSummary } from "sessarc";

/** The person who asks. */
export interface Principal {
  tenant: number;
  person: string;
  /** Ids of the spaces this person may read. */
  spaces: readonly number[];
}

/** The database of a team server. */
export interface TeamDatabase {
  /** Queries as the owner of the tables: accounts, tokens, spaces. Never for what plugins ask. */
  readonly owner: Database;
  /** Queries as `sessarc_member`, each under row-level security. Closing it ends nothing but this view. */
  member(principal: Principal): Database;
  /** Queries as `sessarc_writer`, of all spaces of a tenant. What is written without `write` races with other nodes. */
  reader(tenant: number): Database;
  /**
   * Takes the tenant's write lock and holds it until `release`; `db` writes as `sessarc_writer` on the connection that holds the lock.
   * Throws TEAM_BUSY if another node still holds the lock after `waitMs` milliseconds.
   */
  write(tenant: number, waitMs: number): Promise<TeamWriter>;
  /** Grows with every committed batch of `write`, on every node. One small query. */
  generation(tenant: number): Promise<number>;
  /** Ids of all sessions whose rows changed after `generation`, in any space; undefined where they are too many to name. */
  changesSince(tenant: number, generation: number): Promise<readonly string[] | undefined>;
  /** Applies the missing schema steps of a plugin under a lock, forward only. Throws ARCHIVE_OTHER and ARCHIVE_NEWER as the local archive does. */
  migrate(plugin: string, migrations: readonly string[]): Promise<void>;
  close(): Promise<void>;
}

export interface TeamWriter {
  readonly db: Database;
  release(): Promise<void>;
}

export interface TeamDatabaseOptions {
  /** `postgres://…`, or a folder for PGlite. */
  database: string;
}

/** A session's summary as it leaves the machine: without folder, project and single replies. Tokens are those of its log. */
export type PortableSummary = Omit<
  SessionSummary,
  "cwd" | "gitRemote" | "virtualProject" | "replies" | "limits" | "remembered"
>;

/** A raw log of which redaction changed nothing but texts: an adapter reads the same replies and the same messages from it. */
export interface ManifestLog {
  /** Its file's name: assistants put facts there. */
  name: string;
  /** Of the adapter that makes these messages of it; empty for an older one. */
  version: string;
  /** Fields of the summary that are not from the log. */
  outside: string[];
}

/** What leaves the machine of one session. All texts are redacted. */
export interface Manifest {
  version: 1;
  /** Id in the local archive, `tool:key`. */
  id: string;
  tool: string;
  toolLabel: string;
  /** `root`, `cwd`: folder of the repository and working directory, redacted as the paths in its messages are, which begin with them. */
  project: { kind: string; name: string; key: string; root?: string | undefined; cwd?: string | undefined };
  /** What the user calls the session. */
  name: string | null;
  summary: PortableSummary;
  /** SHA-256 of the chunks that hold the replies: the local ledger's hash, quarter-hour, model with price class, tokens. */
  replies: string[];
  /** SHA-256 of the chunks of events, in order. */
  events: string[];
  /** The same of texts that the log had before and of which later ones lack something, oldest first. */
  earlier: string[][];
  /** SHA-256 of the pieces of the redacted raw log, lines `[offset, row]`; empty where a log is not one file. */
  raw: string[];
  /** How a server may parse the raw log again; null where it would not say what the log itself does. */
  log: ManifestLog | null;
  /** When the session's log was made, in ms since the epoch. */
  born: number;
}
