/** Assistants that keep their sessions as Cline does: one reader, these differences. */

export interface Member {
  name: string;
  label: string;
  /** Folder of the extension below `globalStorage`. */
  extension: string;
  /** Editors beside the usual ones. */
  apps?: readonly string[];
  /** Has the newer store of one folder for each session, shared by all of its programs. */
  hasSessions?: boolean;
  /** The newest version whose own logs were compared. */
  tried?: string;
  /** Folder with skills, of the home and of a project. */
  folder?: string;
}

export type MemberName = "cline" | "roo" | "zoo" | "kilo-legacy" | "ibm-bob";

export const FAMILY: Readonly<Record<MemberName, Member>> = {
  cline: {
    name: "cline",
    label: "Cline",
    extension: "saoudrizwan.claude-dev",
    hasSessions: true,
    tried: "3.0.65",
    folder: ".cline",
  },
  roo: { name: "roo", label: "Roo Code", extension: "rooveterinaryinc.roo-cline", folder: ".roo" },
  zoo: { name: "zoo", label: "Zoo Code", extension: "zoocodeorganization.zoo-code", folder: ".roo" },
  "kilo-legacy": { name: "kilo-legacy", label: "Kilo Code (extension, before 2026)", extension: "kilocode.kilo-code" },
  "ibm-bob": { name: "ibm-bob", label: "IBM Bob", extension: "ibm.bob-code", apps: ["IBM Bob", "Bob-IDE"] },
};

/** Tools of the newer store, of tasks and of related assistants. */
export const tools = {
  run_commands: "shell",
  execute_command: "shell",
  read_files: "read",
  read_file: "read",
  editor: "edit",
  apply_diff: "edit",
  search_and_replace: "edit",
  search_replace: "edit",
  edit_file: "edit",
  replace_in_file: "edit",
  write_to_file: "write",
  apply_patch: "patch",
  search_codebase: "search",
  codebase_search: "search",
  search_files: "search",
  list_files: "search",
  list_code_definition_names: "search",
  fetch_web_content: "fetch",
  web_fetch: "fetch",
  update_todo_list: "todo",
  spawn_agent: "agent",
  new_task: "agent",
} as const;
