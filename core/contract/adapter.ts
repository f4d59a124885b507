/** The adapter contract: how one assistant tool's logs become sessions. An adapter is a plugin made by `defineAdapter`. */
import type { SessionEvent, SessionRef, SessionSummary } from "../session/session.ts";
import type { Cursor, TailEnd } from "../session/tail.ts";
import type { MaybePromise } from "../utils/async.ts";

/** What part a tool's own tool plays, so that features work for every assistant. */
export type ToolRole =
  | "read"
  | "edit"
  | "write"
  | "patch"
  | "delete"
  | "move"
  | "shell"
  | "search"
  | "fetch"
  | "todo"
  | "agent";

/** The part of a summary that totals are made of. */
export type UsageSummary = Pick<SessionSummary, "usage" | "replies" | "evidence" | "parent">;

/**
 * What features ask of an adapter beside its logs, by the feature's name (`guard`, `statusline`, `mcp`, `replay`, `skills`): the plugin
 * that asks declares it by module augmentation, so an adapter that answers imports that plugin's types.
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by augmentation
export interface AdapterCapabilities {}

/** A tool that deletes its own logs after a time. */
export interface Retention {
  days: number;
  source: string;
}

/** What every adapter has. */
interface AdapterFacts extends Partial<AdapterCapabilities> {
  /** kebab-case, unique; the first part of every session id. */
  name: string;
  label: string;
  /**
   * The format was looked up in public code, and compared with no log that the assistant itself wrote. `sessarc doctor` prints it.
   */
  unproved?: boolean;
  /**
   * The newest version of the assistant whose own logs were compared with what is read, as the logs spell it. `sessarc doctor` names an assistant
   * whose logs are of a newer one (`assistantVersion` of a summary).
   */
  tried?: string;
  /** Directories (or database files) that may hold logs; they need not exist. */
  roots(env: AdapterEnv): string[];
  /** Head-and-tail look for a listing of what can be imported (title, start, cwd or else the project it goes to); bounded reads. */
  peek?(
    ref: SessionRef,
    env: AdapterEnv,
  ): Promise<Partial<Pick<SessionSummary, "title" | "cwd" | "startedAt" | "gitBranch" | "virtualProject">>>;
  /**
   * The tokens alone, where that is far cheaper than reading; equal to what reading would answer. Undefined: this log has to be read.
   */
  usage?(ref: SessionRef, env: AdapterEnv): Promise<UsageSummary | undefined>;
  /** This tool's tool names by what they do. */
  tools?: Readonly<Record<string, ToolRole>>;
  retention?(env: AdapterEnv): MaybePromise<Retention | undefined>;
  /** The command that resumes a session, as a list of words: `["claude", "--resume", key]`; undefined where the assistant cannot resume it. */
  resume?(ref: Pick<SessionRef, "key" | "path">): readonly string[] | undefined;
}

/** A line of a log, and the byte at which it begins there. */
export interface LogLine {
  text: string;
  offset: number;
}

/** An adapter as the kernel and the plugins use it. `defineAdapter` makes it. */
export interface Adapter extends AdapterFacts {
  scan(root: string, env: AdapterEnv): AsyncIterable<SessionRef>;
  /** Events in batches, then the summary: memory stays flat. */
  read(ref: SessionRef, env: AdapterEnv): EventBatches<SessionSummary>;
  /** Sessions of one `path`, which is opened once. */
  readMany(refs: readonly SessionRef[], env: AdapterEnv): AsyncIterable<[SessionRef, EventBatches<SessionSummary>]>;
  /** What was added since `cursor` (none: everything). `restarted` is known at the end only: the caller compares the first seq. */
  tail(ref: SessionRef, cursor: Cursor | undefined, env: AdapterEnv): EventBatches<TailEnd>;
  /**
   * What `read` returns for lines that the caller has: a redacted copy of the log. Only adapters of JSON lines have it; `ref.path` is a name
   * and need not exist.
   */
  parseLines?(ref: SessionRef, lines: AsyncIterable<readonly LogLine[]>, env: AdapterEnv): EventBatches<SessionSummary>;
  /** Whether the log only grows: a tail then reads what was added, and the log whole where it does not. */
  appends(ref: Pick<SessionRef, "path">): boolean;
  /**
   * The same adapter made for another folder: a backup, another home, a mounted disk. `defineAdapter` sets the option `dir`: an adapter
   * that uses `options.dir` in `roots` supports folders that the user adds, and needs nothing else.
   */
  at(dir: string): Adapter;
}

/** Numbered events, a batch at a time. */
export type EventBatches<End> = AsyncGenerator<SessionEvent[], End>;

/** An event as an adapter makes it; the reader numbers it. */
export type NewEvent = Omit<SessionEvent, "seq"> & {
  /** The assistant may still rewrite it: a tail waits for its final form. */
  open?: true;
};

/** What the plugin around an adapter takes. */
interface AdapterOrigin {
  /** The plugin's own version. */
  version?: string;
  /** Versions of the plugin interface it was written for: `"^1"`. */
  compatibility?: string;
}

/** What an author writes. It has `parse` for logs of JSON lines that are appended to, `open` for everything else, or both. */
export interface AdapterDefinition extends AdapterFacts, AdapterOrigin {
  /** Cheap: directory entries and stat only; a missing root yields nothing. */
  scan(root: string, env: AdapterEnv): AsyncIterable<Omit<SessionRef, "tool">>;
  /** A parser for the rows of one log. A log that grows keeps its parser: `ref` then gets what the last scan found. */
  parse?(ref: SessionRef, env: AdapterEnv): MaybePromise<LineParser>;
  /** Opens a database, or a file that is rewritten in place, for all sessions of one path. */
  open?(path: string, env: AdapterEnv): MaybePromise<OpenLog>;
  /** Where an adapter has both: which logs `parse` reads. */
  appends?(ref: Pick<SessionRef, "path">): boolean;
  /**
   * A cheap token of all that `open` would read for a session: equal means that nothing changed. Without it: size, time and inode of the
   * path and of its write-ahead log.
   */
  token?(ref: SessionRef, env: AdapterEnv): Promise<string>;
}

/** An opened database or document. */
export interface OpenLog {
  /** Changes whenever the session does; undefined when it is no longer there. */
  version(ref: SessionRef): MaybePromise<string | undefined>;
  /** Its events in order, then the summary; undefined when it is no longer there. `onBytes` hears how much log text was read. */
  read(ref: SessionRef, onBytes: (count: number) => void): OpenEvents;
  close?(): MaybePromise<void>;
}
export type OpenEvents =
  | Generator<NewEvent, SessionSummary | undefined>
  | AsyncGenerator<NewEvent, SessionSummary | undefined>;

/** Turns the rows of one log into events, one at a time and in order. Must not throw for content. */
export interface LineParser {
  /** Beginnings of lines, in ASCII, that are skipped before they are parsed: large copies of what other rows hold. */
  skip?: readonly string[];
  /** A text, in ASCII, that no skipped row has: a line with it holds another row as well, and is read. */
  skipUnless?: string;
  /** `line` is reused: take what you need before returning. `length` is in bytes, without the newline. */
  row(row: unknown, line: { offset: number; length: number }): NewEvent[] | NewEvent | undefined;
  /** Events that follow the last row of a log that has rested for an hour: what waited when the assistant ended. */
  end?(): NewEvent[];
  /** Called before a log that grew is read on: what lies beside it may have changed. */
  refresh?(): MaybePromise<void>;
  /** The session as far as it was read. Called each time that the log grew. */
  finish(): SessionSummary;
}

/** Everything an adapter may learn about the machine; tests redirect it. */
export interface AdapterEnv {
  home: string;
  platform: NodeJS.Platform;
  env: Readonly<Record<string, string | undefined>>;
}
