/** What an adapter declares: where its assistant lists what was typed, beside the logs. */
import type { JsonRecord } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";

/** What one row of such a list says of a session. */
export interface ListedPrompt {
  /** Key of the session, as `scan` gives it. */
  key: string;
  /** Absent in a row that names the session alone. */
  text?: string | undefined;
  /** ISO 8601, or ms since the epoch. */
  at?: string | number | undefined;
  cwd?: string | undefined;
  title?: string | undefined;
  /** The list has only the session's first prompt: it counts where no other list has any. */
  isOnlyFirst?: boolean;
}

/** A day as the assistant's own statistics have it. */
export interface ToolDay {
  /** Local: `2026-11-20`. */
  day: string;
  sessions: number;
  messages: number;
  calls: number;
  /** As the assistant counts them; null where it has none of that day. */
  tokens: number | null;
}

export interface TracesContract {
  /** Files that list prompts: JSON lines, one JSON list (`.json`), or what `rows` reads. They need not exist. */
  files(env: AdapterEnv): readonly string[] | Promise<readonly string[]>;
  /** Rows of a file that is neither, such as a database; undefined for one that is. Must not throw for content. */
  rows?(path: string, env: AdapterEnv): Promise<readonly JsonRecord[]> | undefined;
  /** Days of the assistant's own statistics, which may outlive its logs. Must not throw for content. */
  days?(env: AdapterEnv): readonly ToolDay[];
  /** What a row says; undefined for one that says nothing of a session. Must not throw for content. */
  read(row: JsonRecord, path: string): ListedPrompt | undefined;
}
