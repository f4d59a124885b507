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
}

export interface TracesContract {
  /** Files that list prompts: JSON lines, or one JSON list (`.json`). They need not exist. */
  files(env: AdapterEnv): readonly string[] | Promise<readonly string[]>;
  /** What a row says; undefined for one that says nothing of a session. Must not throw for content. */
  read(row: JsonRecord, path: string): ListedPrompt | undefined;
}
