/** The archive's sub commands: descriptions here, code behind `load`. */

import { type Command, type CommandContext, REDACTED_HELP, REDACTED_OPTIONS } from "sessarc/terminal";

const importCommand: Command = {
  name: "import",
  summary: "Imports what the assistants logged since the last time",
  group: "keep",
  example: "--dry-run",
  usage: "[--tool t] [--project p] [--all] [--dry-run]\n--file conversations.json",
  options: {
    tool: { type: "string", multiple: true, short: "t" },
    project: { type: "string", multiple: true, short: "p" },
    all: { type: "boolean" },
    file: { type: "string" },
    "dry-run": { type: "boolean" },
  },
  help: {
    tool: "Only this assistant, as codex or claude-code (may repeat)",
    project: "Only this project: its name, path or key (may repeat)",
    all: "Every assistant and project (the default when nothing is chosen)",
    file: "The conversations.json of an export of ChatGPT or Claude.ai; it holds no tokens",
    "dry-run": "Say what would be imported and change nothing",
  },
  operands: [],
  load: () => import("./import.ts"),
};

/** Two plugins answer what is asked of the archive; which tools there are, only all of them know, and a third sends to a collector. */
const quick = (flags: CommandContext["flags"]) =>
  flags.tool === undefined && flags.otlp === undefined ? ["archive", "insights"] : undefined;

const usageCommand: Command = {
  name: "usage",
  summary: "Tokens and estimated cost by day, session, model or branch",
  group: "cost",
  example: "monthly --breakdown",
  usage:
    "[daily|weekly|monthly|model|project|branch|worktree|tool] [--since d] [--until d]\nsession [<session>|last] [--since d] [--until d] [--limit n]\nblocks [--length 5h] [--live]\n--otlp <endpoint>\nsession <session> --otlp <endpoint>",
  options: {
    since: { type: "string" },
    until: { type: "string" },
    tool: { type: "string", short: "t" },
    project: { type: "string", short: "p" },
    tz: { type: "string" },
    order: { type: "string" },
    limit: { type: "string", short: "n" },
    breakdown: { type: "boolean", short: "b" },
    compact: { type: "boolean", short: "c" },
    evidence: { type: "boolean" },
    stateless: { type: "boolean" },
    length: { type: "string", short: "l" },
    live: { type: "boolean" },
    otlp: { type: "string" },
  },
  help: {
    since: "First day: 2026-11-01, 20261101, or 7d for seven days ago",
    until: "Last day, included",
    tool: "Only this assistant, as codex or claude-code",
    project: "Only this project: its name, path or id",
    tz: "Time zone whose days count, as Europe/Berlin or UTC (default: this machine's)",
    order: "asc or desc: by time, else by cost (default: time going on, the most expensive first)",
    limit: "Rows to show, 1 to 1000 (default: all)",
    breakdown: "One more line per model, with its cost",
    compact: "Total and cost alone, for narrow terminals",
    evidence: "How many usage records were seen, folded and left out; how models are spelled",
    stateless: "Read the logs without an archive; nothing is kept",
    length: "Of the windows of `blocks`: 5h (default), 7d for a week, or any, as 90m",
    live: "The running window of `blocks`, redrawn until Ctrl-C",
    otlp: "Send the token counts, or a session's spans, no content, once to this OpenTelemetry address (OTLP/HTTP)",
  },
  operands: ["daily", "weekly", "monthly", "session", "model", "project", "branch", "worktree", "tool", "blocks"],
  values: { order: ["asc", "desc"] },
  needs: quick,
  current: (flags) => flags.stateless !== true,
  load: () => import("./usage.ts"),
};

const searchCommand: Command = {
  name: "search",
  summary: 'Finds messages: words, "exact words", tool:, project:, is:error',
  group: "look",
  example: '"login bug" after:7d',
  usage: "<query…> [--sort best|newest] [--without word]… [--redacted] [--limit n]",
  options: {
    ...REDACTED_OPTIONS,
    sort: { type: "string" },
    without: { type: "string", multiple: true },
    limit: { type: "string", short: "n" },
  },
  help: {
    ...REDACTED_HELP,
    sort: "best (default): what fits the words best first; newest: the newest session first",
    without: 'Leave out messages with this word (may repeat); in the query, "rm -rf" has a word -rf',
    limit: "Sessions to show, 1 to 1000 (default 20)",
  },
  current: () => true,
  load: () => import("./search.ts"),
};

const showCommand: Command = {
  name: "show",
  summary: "Prints the transcript of a session",
  group: "look",
  example: "last --kinds user,assistant",
  usage: "<session|last>[#message] [--redacted] [--kinds user,assistant] [--limit n] [--earlier n]",
  options: {
    ...REDACTED_OPTIONS,
    kinds: { type: "string", short: "k" },
    after: { type: "string" },
    limit: { type: "string", short: "n" },
    earlier: { type: "string" },
  },
  help: {
    ...REDACTED_HELP,
    kinds: "Only these, with commas: user, assistant, thinking, call, result, note",
    after: "Begin after the message with this number; `last#38` begins at #38",
    limit: "Messages at most, 1 or more (default: all)",
    earlier: "An earlier text of its log, by the number shown above the messages",
  },
  current: () => true,
  load: () => import("./show.ts"),
};

const sessionsCommand: Command = {
  name: "sessions",
  summary: "Lists sessions, newest first",
  group: "look",
  example: "--since 7d",
  usage: "[text…] [--project p] [--tool t] [--since d] [--until d] [--limit n]",
  options: {
    project: { type: "string", short: "p" },
    tool: { type: "string", short: "t" },
    since: { type: "string" },
    until: { type: "string" },
    subagents: { type: "boolean" },
    sort: { type: "string" },
    limit: { type: "string", short: "n" },
  },
  help: {
    project: "Only this project: its name, path or id",
    tool: "Only this assistant, as codex or claude-code",
    since: "Active on or after this day: 2026-11-01, 20261101, or 7d for seven days ago",
    until: "Begun on or before this day",
    subagents: "Those of sub-agents too",
    sort: "recent (default), oldest, messages or active",
    limit: "Sessions to show, 1 to 1000 (default 20)",
  },
  values: { sort: ["recent", "oldest", "messages", "active"] },
  needs: quick,
  current: () => true,
  load: () => import("./sessions.ts"),
};

const projectsCommand: Command = {
  name: "projects",
  summary: "Lists projects, newest first",
  group: "look",
  usage: "[text…] [--tool t] [--git]",
  options: { tool: { type: "string", short: "t" }, git: { type: "boolean" } },
  help: { tool: "Only those with sessions of this assistant", git: "Branch and changes of each repository, read now" },
  needs: (flags) => (flags.git === true ? undefined : quick(flags)),
  current: () => true,
  load: () => import("./projects.ts"),
};

const backupCommand: Command = {
  name: "backup",
  summary: "Writes the archive into one tar file, while the service goes on",
  group: "keep",
  usage: "[file]",
  options: {},
  help: {},
  load: () => import("./backup.ts"),
};

const vacuumCommand: Command = {
  name: "vacuum",
  summary: "Returns the space of deleted sessions to the disk",
  usage: "[--dry-run] [--logs]",
  options: { "dry-run": { type: "boolean" }, logs: { type: "boolean" } },
  help: {
    "dry-run": "Only say how much is empty",
    logs: "Remove the stored raw logs too: sessions whose log is gone cannot be put back then",
  },
  load: () => import("./vacuum.ts"),
};

export const commands: readonly Command[] = [
  importCommand,
  sessionsCommand,
  projectsCommand,
  usageCommand,
  searchCommand,
  showCommand,
  backupCommand,
  vacuumCommand,
];
