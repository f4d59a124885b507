/** The archive's sub commands: descriptions here, code behind `load`. */
import type { Command } from "sessarc";

const importCommand: Command = {
  name: "import",
  summary: "Imports what the assistants logged since the last time",
  usage: "[--tool t] [--project p] [--all] [--dry-run]",
  options: {
    tool: { type: "string", multiple: true, short: "t" },
    project: { type: "string", multiple: true, short: "p" },
    all: { type: "boolean" },
    "dry-run": { type: "boolean", short: "n" },
  },
  help: {
    tool: "Only this tool, as codex or claude-code (may repeat)",
    project: "Only this project: its name, path or key (may repeat)",
    all: "Every tool and project (the default when nothing is chosen)",
    "dry-run": "Say what would be imported and change nothing",
  },
  load: () => import("./import.ts"),
};

const usageCommand: Command = {
  name: "usage",
  summary: "Tokens and estimated cost by day, week, month, session, model or project",
  usage: "[daily|weekly|monthly|session|model|project|tool] [--since d] [--until d]",
  options: {
    since: { type: "string" },
    until: { type: "string" },
    tool: { type: "string", short: "t" },
    project: { type: "string", short: "p" },
    tz: { type: "string" },
    breakdown: { type: "boolean", short: "b" },
    evidence: { type: "boolean" },
    stateless: { type: "boolean" },
  },
  help: {
    since: "First day: 2026-11-01, 20261101, or 7d for seven days ago",
    until: "Last day, included",
    tool: "Only this tool",
    project: "Only this project: its name, path or id",
    tz: "Time zone whose days count, as Europe/Berlin or UTC (default: this machine's)",
    breakdown: "One more line per model",
    evidence: "How many usage records were seen, folded and left out",
    stateless: "Read the logs without an archive; nothing is kept",
  },
  needs: (flags) => (flags.stateless === true ? undefined : ["archive", "insights"]),
  load: () => import("./usage.ts"),
};

const searchCommand: Command = {
  name: "search",
  summary: 'Finds messages: words, "exact words", tool:, project:, kind:, after:, is:error',
  usage: "<query…> [--limit n]",
  options: { limit: { type: "string", short: "n" } },
  help: { limit: "Sessions to show, 1 to 1000 (default 20)" },
  load: () => import("./search.ts"),
};

const showCommand: Command = {
  name: "show",
  summary: "Prints the transcript of a session",
  usage: "<session> [--kinds user,assistant] [--after n] [--limit n] [--earlier n]",
  options: {
    kinds: { type: "string", short: "k" },
    after: { type: "string" },
    limit: { type: "string", short: "n" },
    earlier: { type: "string" },
  },
  help: {
    kinds: "Only these, with commas: user, assistant, thinking, tool_use, tool_result, note",
    after: "Begin behind the message with this number",
    limit: "Messages at most (default: all)",
    earlier: "A text its log had before, by the number that is told above the messages",
  },
  load: () => import("./show.ts"),
};

export const commands: readonly Command[] = [importCommand, usageCommand, searchCommand, showCommand];
