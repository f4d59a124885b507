/** What a session taught: facts, as the indexer stores them and the service "recall" answers them. */

/** The four kinds of facts. */
export const FACT_KINDS = ["failed", "fixed", "corrected", "decided"] as const;

/**
 * - `failed`: a command or another call that failed
 * - `fixed`: the call with which the same family of commands worked again
 * - `corrected`: a prompt in which the user corrects the assistant
 * - `decided`: a statement of a decision with its reason
 */
export type FactKind = (typeof FACT_KINDS)[number];

/** One fact. Texts are one line each, without control characters, and their secrets are masked. */
export interface Fact {
  kind: FactKind;
  session: string;
  /** The message that shows it: of `failed` and `fixed` the call, of the others the statement. */
  seq: number;
  /** ISO time of the message; null where the log has none. */
  at: string | null;
  projectId: string;
  /** `failed`, `fixed`: the normalized command (`npx vitest run test/cli`), or tool and path. Others: empty. */
  subject: string;
  /** `failed`, `fixed`: program and subcommand (`vitest run`), the same for all commands of a family. Others: empty. */
  family: string;
  /** `failed`, `fixed`: the command as it was run, up to 300 characters. Others: empty. */
  command: string;
  /**
   * `failed`: the error's first telling line. `fixed`: the commands that worked between failure and success, joined by `; `, or empty.
   * `corrected`: the sentence that corrects, and the next. `decided`: the sentence with its reason. Up to 300 characters.
   */
  text: string;
  /** Paths as the calls wrote them, 8 at most. `fixed`: edited between failure and success. Others: edited since the prompt before. */
  files: readonly string[];
  /** `fixed`: the message of the last call that failed. `failed`: that of the call that fixed it, null while none did. Others: null. */
  other: number | null;
  /** `failed`: how often the same failure came in a row. Others: 1. */
  count: number;
}

/** Which facts; each part that is there must hold. */
export interface FactQuery {
  projectId?: string | undefined;
  kinds?: readonly FactKind[] | undefined;
  /** A command as it would be run: facts of the same normalized command first, then of its family. */
  subject?: string | undefined;
  /** A path, or the end of one: facts that name a file ending with it. */
  file?: string | undefined;
  /** ms: facts of sessions that were active at or after it. */
  since?: number | undefined;
  /** Newest first, 1 to 500. */
  limit: number;
}
