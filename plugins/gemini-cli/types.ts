/** Row shapes of Gemini CLI's chat logs, as far as they are read. Everything is unknown until narrowed. */
import type { JsonRecord } from "sessarc";

/** First record of a `.jsonl` file and the top of a `.json` one; `$set` updates the same names. */
export interface Meta {
  sessionId?: string;
  projectHash?: string;
  startTime?: string;
  lastUpdated?: string;
  summary?: string;
  /** "main" or "subagent". */
  kind?: string;
  /** The session that sessarc copied it from, for another folder. */
  copyOf?: string;
}

/** What one reply was billed; the last non-null figures of its id. */
export interface Reply {
  id: string;
  at?: string | undefined;
  model?: string | undefined;
  tokens: JsonRecord;
}

/** What a file says once all of its records are applied. */
export interface Conversation {
  meta: Meta;
  /** The live messages in order, by id. */
  messages: ReadonlyMap<string, JsonRecord>;
  /** Every reply ever logged, also those rewound or replaced since. */
  replies: ReadonlyMap<string, Reply>;
  /** Token records seen, repeats included. */
  tokenRecords: number;
  /** Earliest and latest time of any message, dropped ones included. */
  first?: string | undefined;
  last?: string | undefined;
  /** The first start-up context: it names the workspace folders. */
  context?: string | undefined;
  unknown: Record<string, number>;
  /** Records that are no objects or have the wrong shape. */
  bad: number;
}
