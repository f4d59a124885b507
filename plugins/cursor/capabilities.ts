/** What sessarc knows of Cursor beside its logs, as data: its tools' names, where skills, servers and the guard live. */

import { join } from "node:path";
import { type Adapter, isRecord, type McpServerEntry, type ToolRole, toList, toRecord, toText } from "sessarc";

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

/** Strict JSON: a file with comments or trailing commas makes `parse` throw a SyntaxError. */
export const mcp: NonNullable<Adapter["mcp"]> = {
  files: ({ home }) => [join(home, ".cursor", "mcp.json")],
  parse(text) {
    const config: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    return Object.entries(toRecord(toRecord(config).mcpServers)).flatMap(
      ([name, value]) => toServer(name, value) ?? [],
    );
  },
};

/** `hooks.json` version 1; whether a failing hook blocks is `failClosed` of each entry. Cursor runs Claude Code's hooks as well. */
export const guard: NonNullable<Adapter["guard"]> = {
  settings: ({ home }) => join(home, ".cursor", "hooks.json"),
  format: "json",
  transport: "command",
  onFailure: "configurable",
};

function toServer(name: string, value: unknown): McpServerEntry | undefined {
  if (!isRecord(value)) return undefined;
  const disabled = value.disabled === true || value.enabled === false ? { disabled: true } : {};
  const url = toText(value.url);
  if (url) {
    const headers = stringsOf(value.headers);
    return {
      name,
      transport: value.type === "sse" ? "sse" : "http",
      url,
      ...(headers ? { headers } : {}),
      ...disabled,
    };
  }
  const command = toText(value.command);
  if (!command) return undefined;
  const args = toList(value.args).filter((arg) => typeof arg === "string");
  const [env, cwd] = [stringsOf(value.env), toText(value.cwd)];
  return { name, transport: "stdio", command, args, ...(env ? { env } : {}), ...(cwd ? { cwd } : {}), ...disabled };
}

function stringsOf(value: unknown): Record<string, string> | undefined {
  const pairs = Object.entries(toRecord(value)).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return pairs.length > 0 ? Object.fromEntries(pairs) : undefined;
}
