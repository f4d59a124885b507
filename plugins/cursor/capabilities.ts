/** What sessarc knows of Cursor beside its logs, as data: its tools' names, where skills, servers and the guard live. */

import { join } from "node:path";
import type { AdapterCapabilities } from "sessarc";
import type { Adapter, ToolRole } from "sessarc/adapter";

type McpContract = AdapterCapabilities["mcp"];

/** Names in the editor's databases, then those in transcripts and the command line. */
export const tools: Readonly<Record<string, ToolRole>> = {
  read_file: "read",
  read_file_v2: "read",
  edit_file: "edit",
  edit_file_v2: "edit",
  search_replace: "edit",
  multi_edit: "edit",
  edit_notebook: "edit",
  reapply: "edit",
  write: "write",
  apply_patch: "patch",
  delete_file: "delete",
  run_terminal_cmd: "shell",
  run_terminal_command: "shell",
  run_terminal_command_v2: "shell",
  codebase_search: "search",
  semantic_search_full: "search",
  grep: "search",
  grep_search: "search",
  ripgrep: "search",
  ripgrep_raw_search: "search",
  file_search: "search",
  glob_file_search: "search",
  list_dir: "search",
  list_dir_v2: "search",
  web_search: "fetch",
  web_fetch: "fetch",
  fetch: "fetch",
  todo_write: "todo",
  task: "agent",
  task_v2: "agent",
  Read: "read",
  Edit: "edit",
  StrReplace: "edit",
  MultiEdit: "edit",
  EditNotebook: "edit",
  Write: "write",
  ApplyPatch: "patch",
  Delete: "delete",
  Shell: "shell",
  Bash: "shell",
  Grep: "search",
  Glob: "search",
  LS: "search",
  SemanticSearch: "search",
  WebFetch: "fetch",
  WebSearch: "fetch",
  TodoWrite: "todo",
  Task: "agent",
};

/** Paths of scope `project` are relative to the project. Cursor reads Claude's skills too. */
export const skills: NonNullable<Adapter["skills"]> = {
  dirs: ({ home }) => [
    { path: join(".cursor", "skills"), scope: "project" },
    { path: join(".agents", "skills"), scope: "project" },
    { path: join(".claude", "skills"), scope: "project" },
    { path: join(home, ".cursor", "skills"), scope: "user" },
    { path: join(home, ".agents", "skills"), scope: "user" },
    { path: join(home, ".claude", "skills"), scope: "user" },
  ],
};

/** Servers under `mcpServers`. Each window decides whether a server is off; no file records it. */
export const mcp: McpContract = {
  files: ({ home }) => [
    { path: join(home, ".cursor", "mcp.json"), scope: "user" },
    { path: join(".cursor", "mcp.json"), scope: "project" },
  ],
  syntax: "jsonc",
  variable: "env",
  servers: (config, read) => read.servers(config, ["mcpServers"], ["auth", "envFile"]),
  into: () => ["mcpServers"],
  link: (url, _, headers) => ({ url, ...(headers && { headers }) }),
};

/**
 * `hooks.json` version 1; whether a failing hook blocks is `failClosed` of each entry. Cursor runs Claude Code's hooks as well. It has no event
 * for a question about a permission.
 */
export const guard: NonNullable<Adapter["guard"]> = {
  settings: ({ home }) => join(home, ".cursor", "hooks.json"),
  format: "json",
  recognises: ({ conversation_id, cursor_version }) => conversation_id !== undefined || cursor_version !== undefined,
  root: { version: 1 },
  list: ["hooks", "preToolUse"],
  entry: ({ command, onFailure }) => ({ command, timeout: 10, ...(onFailure === "block" && { failClosed: true }) }),
  deny: (reason) => ({ permission: "deny", user_message: reason, agent_message: reason }),
  ask: (why) => ({ permission: "ask", user_message: why, agent_message: why }),
  waiting: [{ reports: "answer", list: ["hooks", "stop"], entry: ({ command }) => ({ command }) }],
};
