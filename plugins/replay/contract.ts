/** How a tool's calls are done again in a sandbox: what replay asks of adapters. */
import type { RecordedCall, RecordedRead, ToolAction } from "sessarc/adapter";

/** What the log says a command came to. */
export interface RecordedOutcome {
  /** Null when the log does not hold it. */
  exitCode: number | null;
  /** What the command wrote, without the tool's own words around it. */
  output: string;
}

/**
 * How a tool's calls are done again: an optional capability of adapters. Without it calls are read by the roles of `Adapter.tools` and
 * the usual names of arguments, which fits most tools.
 */
export interface ReplayContract {
  /** What a call does; undefined when it changes nothing or is to be read by its role. */
  actions?(call: RecordedCall): ToolAction[] | undefined;
  /** What a command came to, from the text of its result. Default: the exit codes tools commonly write around an output. */
  outcome?(call: RecordedCall, result: { text: string; failed: boolean }): RecordedOutcome | undefined;
  /** The file a call showed from its first line to its last; undefined for everything else. */
  read?(call: RecordedCall, result: { text: string; failed: boolean }): RecordedRead | undefined;
}
