/** A tool as the bench drives it. */

/** The adapter that reads the tool's logs. */
export type ToolName = "claude-code" | "codex" | "gemini-cli" | "opencode" | "copilot";

export interface Driver {
  name: ToolName;
  /** On npm. */
  package: string;
  /** The command in the package. */
  command: string;
  /** Major version of Node that has to come first in the PATH; without it, the one we run on. */
  node?: "22" | "24";
  /** Writes the settings of a fresh home: the model server, no telemetry, no updates, every tool allowed. */
  setUp(place: Place): Promise<void>;
  /** Beside HOME and PATH. */
  env(place: Place): Record<string, string>;
  /** Arguments of a run without a terminal. */
  args(ask: Ask, place: Place): string[];
}

export interface Place {
  home: string;
  /** The project in which the tool works, a git repository. */
  cwd: string;
  /** Of the model server. */
  url: string;
}

export interface Ask {
  prompt: string;
  /** Goes on with this session of the tool. */
  resume?: string;
  /** Goes on in a copy. */
  fork?: boolean;
  model?: string;
  /** Further arguments of the command line. */
  extra?: readonly string[];
}
