/** What happens in a sample session, before it takes the form of one tool's log. */
export type Tool = "claude-code" | "codex" | "cursor" | "opencode" | "gemini-cli" | "copilot";

export type Action =
  | { do: "read"; path: string }
  | { do: "write"; path: string; text: string }
  /** `from` stands exactly once in the file; with `fails` it does not, and nothing changes. */
  | { do: "edit"; path: string; from: string; to: string; fails?: boolean }
  | { do: "run"; command: string; output: string; exit?: number }
  | { do: "search"; pattern: string; output: string }
  | { do: "agent"; kind: string; task: string; prompt: string; steps: Step[]; answer: string };

export type Step = { ask: string } | { compact: string } | { think?: string; say?: string; calls: Action[] };

export interface Story {
  /** Seed of its ids; unique. */
  name: string;
  tool: Tool;
  project: string;
  model: string;
  title?: string;
  daysAgo: number;
  /** Minutes after midnight UTC; for today: minutes before now. */
  minute: number;
  steps: Step[];
  /** Commits what the session changed, where the project is a repository. */
  commit?: string;
  /** Repeats the first `steps` of an earlier session of the same tool, then goes its own way. Its changes are not kept. */
  forkOf?: { name: string; steps: number };
  /** The conversation is split in two by this many hours after half of it. */
  resumedAfter?: number;
}

export interface SampleProject {
  name: string;
  /** Folder below the sample home. */
  folder: string;
  repository: boolean;
  files: Record<string, string>;
  stories: Story[];
}

export const ask = (text: string): Step => ({ ask: text });
export const say = (text: string, think?: string): Step => ({ say: text, calls: [], ...(think && { think }) });
/** A reply that calls tools: `does("why", read("a.ts"), run("npm test", "ok"))`. */
export const does = (think: string, ...calls: Action[]): Step => ({ think, calls });
export const compact = (summary: string): Step => ({ compact: summary });

export const read = (path: string): Action => ({ do: "read", path });
export const write = (path: string, ...lines: string[]): Action => ({ do: "write", path, text: file(...lines) });
export const edit = (path: string, from: string, to: string): Action => ({ do: "edit", path, from, to });
export const missedEdit = (path: string, from: string, to: string): Action => ({
  do: "edit",
  path,
  from,
  to,
  fails: true,
});
export const run = (command: string, output: string, exit = 0): Action => ({ do: "run", command, output, exit });
export const search = (pattern: string, output: string): Action => ({ do: "search", pattern, output });
export const file = (...lines: string[]) => `${lines.join("\n")}\n`;
