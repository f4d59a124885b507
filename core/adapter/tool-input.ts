/** What a tool call's arguments say, across assistants: the paths it names. */
import type { ToolRole } from "../contract/adapter.ts";
import type { Json } from "../utils/json.ts";

/** Argument names that hold one path, in the six tools' own tools. */
const PATH_KEYS = [
  "file_path",
  "filePath",
  "path",
  "absolute_path",
  "target_file",
  "notebook_path",
  "relative_workspace_path",
  "filename",
  "file",
  "dirPath",
  "old_path",
  "new_path",
] as const;
const PATH_LIST_KEYS = ["paths", "files", "filePaths", "file_paths"] as const;
const PATCH_HEADER =
  /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^(?:---|\+\+\+) (?:[ab]\/)?([^\t\n]+)/gm;
/** A patch names its files early and often; a longer text is not looked through to its end. */
const PATCH_LIMIT = 1 << 20;

/**
 * Paths a tool call names, in order, each once, as written. Reads arguments by their usual names, and patch texts by their headers
 * when `role` is `patch` (or unknown and the text looks like one). Linear in the arguments.
 */
export function pathsIn(input: Json | undefined, role?: ToolRole): string[] {
  const found = new Set<string>();
  collect(input, role, found);
  return [...found];
}

function collect(input: Json | undefined, role: ToolRole | undefined, found: Set<string>): void {
  if (typeof input === "string") {
    if (role === "patch" || input.startsWith("*** Begin Patch")) patchPaths(input, found);
    return;
  }
  if (input === null || typeof input !== "object" || Array.isArray(input)) return;
  for (const key of PATH_KEYS) {
    const value = input[key];
    if (typeof value === "string" && value !== "") found.add(value);
  }
  for (const key of PATH_LIST_KEYS) {
    const value = input[key];
    if (!Array.isArray(value)) continue;
    for (const item of value) if (typeof item === "string" && item !== "") found.add(item);
  }
  for (const key of ["patch", "input", "patchText", "diff"]) {
    const value = input[key];
    if (typeof value === "string" && (role === "patch" || value.startsWith("*** Begin Patch")))
      patchPaths(value, found);
  }
}

function patchPaths(text: string, found: Set<string>): void {
  for (const match of text.slice(0, PATCH_LIMIT).matchAll(PATCH_HEADER)) {
    const path = match[1] ?? match[2] ?? match[3];
    if (path && path !== "/dev/null") found.add(path.trim());
  }
}
