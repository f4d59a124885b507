/** The adapter contract: how one assistant tool's logs become sessions. An adapter is a plugin made by `defineAdapter`. */
import type { SessionEvent, SessionRef, SessionSummary } from "../session/session.ts";
import type { Cursor, Tail, TailEnd } from "../session/tail.ts";
import type { MaybePromise } from "../utils/async.ts";
import type { Json } from "../utils/json.ts";
import type { AdapterEnv } from "./env.ts";
import type { McpContract } from "./mcp-config.ts";
import type { ReplayContract } from "./tool-action.ts";

export type { AdapterEnv } from "./env.ts";

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

export interface SkillDir {
  path: string;
  scope: "user" | "project" | "system";
}
/** Where a tool keeps skills, and how its logs say that one was used. */
export interface SkillContract {
  /** Paths of scope `project` are relative to the project. Links go to the first of each scope. */
  dirs(env: AdapterEnv): SkillDir[];
  /**
   * The skill that an event asks for by name: a call of the tool's own, a note. With a leading slash when it may be a command of the
   * tool as well. That a `SKILL.md` is read is seen without it.
   */
  used?(event: SessionEvent): string | undefined;
}
/** How a tool lets another program look at a tool call before it runs. */
export interface GuardContract {
  /** Where the hook is written. */
  settings(env: AdapterEnv): string;
  format: "json" | "jsonc" | "toml" | "plugin";
  transport: "command" | "plugin";
  /** What the tool does when the hook fails. */
  onFailure: "allow" | "block" | "configurable";
}
/** A tool that deletes its own logs after a time. */
export interface Retention {
  days: number;
  source: string;
}

export interface Adapter {
  /** kebab-case, unique; the first part of every session id. */
  name: string;
  label: string;
  /** Directories (or database files) that may hold logs; they need not exist. */
  roots(env: AdapterEnv): string[];
  /** Cheap: directory entries and stat only; a missing root yields nothing. */
  scan(root: string, env: AdapterEnv): AsyncIterable<SessionRef>;
  /** Head-and-tail look for a listing of what can be imported (title, start, cwd or else the project it goes to); bounded reads. */
  peek?(
    ref: SessionRef,
    env: AdapterEnv,
  ): Promise<Partial<Pick<SessionSummary, "title" | "cwd" | "startedAt" | "gitBranch" | "virtualProject">>>;
  /** Yields events and returns the summary: memory stays flat. */
  read(ref: SessionRef, env: AdapterEnv): AsyncGenerator<SessionEvent, SessionSummary>;
  /** The same events in batches, without a promise for each; made for `lines` adapters. Importers prefer it. */
  readBatches?(ref: SessionRef, env: AdapterEnv): AsyncGenerator<SessionEvent[], SessionSummary>;
  /** Shared stores: one open for all sessions of one `path`. */
  readMany?(
    refs: SessionRef[],
    env: AdapterEnv,
  ): AsyncIterable<[SessionRef, AsyncGenerator<SessionEvent, SessionSummary>]>;
  /**
   * The tokens alone, where that is far cheaper than `read`; equal to what `read` would answer. Undefined: this log has to be read.
   */
  usage?(ref: SessionRef, env: AdapterEnv): Promise<UsageSummary | undefined>;
  /** What was added since `cursor` (none: everything). */
  tail?(ref: SessionRef, cursor: Cursor | undefined, env: AdapterEnv): Promise<Tail>;
  /** The same in batches; made for `lines` adapters. `restarted` is known at the end only: the caller compares the first seq. */
  tailBatches?(ref: SessionRef, cursor: Cursor | undefined, env: AdapterEnv): AsyncGenerator<SessionEvent[], TailEnd>;
  /** This tool's tool names by what they do. */
  tools?: Readonly<Record<string, ToolRole>>;
  skills?: SkillContract;
  mcp?: McpContract;
  guard?: GuardContract;
  /** How its calls are done again in a sandbox. */
  replay?: ReplayContract;
  retention?(env: AdapterEnv): MaybePromise<Retention | undefined>;
  /** Words of the command that goes on with a session, `["claude", "--resume", key]`; undefined where the tool has none for it. */
  resume?(ref: Pick<SessionRef, "key" | "path">): readonly string[] | undefined;
  /**
   * The same adapter made for another folder: a backup, another home, a mounted disk. Made by `defineAdapter`, which sets the option
   * `dir`; an adapter that heeds `options.dir` in `roots` can be given folders by the user and needs nothing else.
   */
  at?(dir: string): Adapter;
}

/** What goes to the plugin around an adapter. */
export interface AdapterOrigin {
  /** The plugin's own version. */
  version?: string;
  /** Versions of the plugin interface it was written for: `"^1"`. */
  compatibility?: string;
}

/**
 * What an author writes. Append-only JSON-lines tools give `lines` and get `read` and `tail` made from it;
 * all others write `read` (and `tail` where it can be cheap) themselves.
 */
export type AdapterDefinition = Omit<Adapter, "read"> &
  AdapterOrigin &
  ({ read: Adapter["read"] } | { lines: (ref: SessionRef, env: AdapterEnv, state?: Json) => LineParser });

/** Turns the rows of one log into events, one at a time and in order. Must not throw for content. */
export interface LineParser {
  /** `seq` of the events is set by the reader. `line` is reused: take what you need before returning. `length` is in bytes, without the newline. */
  row(row: unknown, line: { offset: number; length: number }): SessionEvent[] | SessionEvent | undefined;
  /** May be called more than once. */
  finish(): SessionSummary;
  /** All that is needed to go on after this row; JSON, small. */
  snapshot(): Json;
}
