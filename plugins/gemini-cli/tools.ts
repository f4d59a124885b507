/** Gemini CLI's tool names by what they do, older names included. */
import type { ToolRole } from "sessarc/adapter";

export const TOOLS: Readonly<Record<string, ToolRole>> = {
  read_file: "read",
  read_many_files: "read",
  replace: "edit",
  write_file: "write",
  run_shell_command: "shell",
  search_file_content: "search",
  grep_search: "search",
  glob: "search",
  find_files: "search",
  list_directory: "search",
  web_fetch: "fetch",
  google_web_search: "fetch",
  write_todos: "todo",
  codebase_investigator: "agent",
  delegate_to_agent: "agent",
  invoke_agent: "agent",
};
