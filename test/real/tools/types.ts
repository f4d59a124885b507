/** A tool as the bench drives it. */
import type { Call, Entry, ModelRequest } from "../model/script.ts";

/** The adapter that reads the tool's logs. */
export type ToolName =
  | "claude-code"
  | "codex"
  | "gemini-cli"
  | "opencode"
  | "copilot"
  | "pi"
  | "qwen"
  | "kimi"
  | "droid"
  | "grok"
  | "cline"
  | "kilo"
  | "continue"
  | "codebuddy"
  | "auggie"
  | "command-code";

export interface Driver {
  /** In the table, where it is not the adapter's name alone. */
  label?: string;
  name: ToolName;
  /** On npm. */
  package: string;
  /** The command in the package. */
  command: string;
  /** Folder of the command in the package, where the package does not name its commands. */
  folder?: string;
  /** Further packages in the versions that the tool needs, where npm gives it later ones that it cannot load. */
  others?: readonly string[];
  /** Major version of Node that has to come first in the PATH; without it, the one we run on. */
  node?: "22" | "24";
  /** Writes the settings of a fresh home: the model server, no telemetry, no updates, every tool allowed. */
  setUp(place: Place): Promise<void>;
  /** Beside HOME and PATH. */
  env(place: Place): Record<string, string>;
  /** Arguments of a run without a terminal. */
  args(ask: Ask, place: Place): string[];
  words: Words;
  /** The id by which a session that ran is resumed. */
  sessionId(ran: { stdout: string; stderr: string }, place: Place): string | undefined | Promise<string | undefined>;
  /** What the command line cannot do, by scenario, with the reason. */
  cannot?: Partial<Record<string, string>>;
  /** How a compaction is asked for: a run's prompt (or command of the tool) and arguments in a session that has begun; what a screen then shows. */
  compaction?: Pick<Ask, "prompt" | "extra"> & { isCommand?: boolean; shows?: string };
  /** The same where no run can ask for it. */
  compact?(tool: Place & { command(args: readonly string[]): Started }, session: string): Promise<void>;
  /** Goes on with a session on its screen, where no run can: the command's arguments, and what is typed to the end of the answer. */
  screen?: {
    args(session: string): readonly string[];
    goOn(screen: Screen, ask: Pick<Ask, "prompt" | "fork">, answer: string): Promise<void>;
    /** The tool's command that ends what its screen leaves running. */
    stop: readonly string[];
  };
  /** Whether the log holds a finished reply, of a tool that writes with a delay: one that is killed at once has written none. */
  hasWritten?(place: Place): Promise<boolean>;
  /** A session that is resumed in another minute leaves another file. */
  logsByMinute?: boolean;
  /** Why no log holds what this request spent; undefined for a request that a log must hold. */
  unlogged?(entry: Entry): string | undefined;
  /** Sub-agents are part of their parent's session. */
  agentsInside?: boolean;
}

/** The same deeds in the words of each tool. Paths are relative to the project. */
export interface Words {
  shell(command: string): Call;
  /** Of an assistant that edits only what it has read. */
  read?(place: Place, path: string): Call;
  write(place: Place, path: string, text: string): Call;
  edit(place: Place, path: string, from: string, to: string): Call;
  /** Sends off a sub-agent and, where the tool wants that, waits for it: the calls of one reply each. */
  agent(prompt: string): (readonly Call[] | ((request: ModelRequest) => readonly Call[]))[];
}

/** A tool in a terminal. */
export interface Screen {
  type(keys: string): void;
  /** The text of the screen as soon as `wanted` accepts it, with `keys` typed now and every few seconds; throws with what is there. */
  until(wanted: (text: string) => boolean, keys?: string): Promise<string>;
  ended: Promise<void>;
  close(): Promise<void>;
}

/** A command that was started. */
export interface Started {
  kill(signal: NodeJS.Signals): void;
  ended: Promise<{ code: number | null; stdout: string; stderr: string }>;
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
