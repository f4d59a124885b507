/**
 * What the arguments of a tool call say, across assistants: the one table of names that the archive, replay, exports, causality and the dashboard
 * read calls by. Imports nothing that a browser lacks.
 */
import type { ToolRole } from "../contract/adapter.ts";
import { isRecord } from "../utils/json.ts";

/** Names of arguments; the first that is there counts. */
export const NAMES = {
  path: [
    "file_path",
    "filePath",
    "filepath",
    "path",
    "absolute_path",
    "target_file",
    "notebook_path",
    "relative_workspace_path",
    "filename",
    "file",
    "dirPath",
    "dirpath",
    "AbsolutePath",
    "TargetFile",
    "DirectoryPath",
  ],
  paths: ["paths", "files", "filePaths", "file_paths"],
  moves: [
    ["source", "destination"],
    ["from", "to"],
    ["old_path", "new_path"],
    ["source_path", "destination_path"],
  ],
  pairs: [
    ["old_string", "new_string"],
    ["oldString", "newString"],
    ["old_str", "new_str"],
    ["old_text", "new_text"],
    ["oldText", "newText"],
    ["TargetContent", "ReplacementContent"],
  ],
  /** Lists of edits, each with the names of one. */
  edits: ["edits", "replacements", "operations", "ReplacementChunks", "str_replace_entries"],
  /** The whole text of a file. */
  content: ["content", "contents", "file_text", "fileText", "file_content", "text", "CodeContent"],
  /** New text of which the call does not say where it stands. */
  sketch: ["code_edit", "new_source"],
  inserted: ["insert_text", "new_str", "text"],
  patch: ["patchText", "patch", "input", "diff"],
  command: ["command", "cmd", "script", "CommandLine"],
  folder: ["workdir", "cwd", "directory", "dir_path", "Cwd"],
  query: ["pattern", "query", "regex", "q", "search", "Query"],
  url: ["url", "uri"],
  title: ["description", "title", "prompt", "task", "name", "skill"],
} as const;

export interface EditText {
  before: string;
  after: string;
  /** Every place where `before` stands. */
  all: boolean;
}

/** What one call says. Texts are as the call has them, paths as it wrote them. */
interface CallArguments {
  /** The first path it names. */
  path: string | undefined;
  /** All of them, each once. */
  paths: string[];
  edits: EditText[];
  /** The new text of a whole file, or of a part where the call does not say which. */
  content: string | undefined;
  /** A patch in the `*** Begin Patch` format, or a unified diff. */
  patch: string | undefined;
  /** Empty where there is none. */
  command: string;
  query: string | undefined;
  url: string | undefined;
  /** What the call says it is for. */
  title: string | undefined;
}

type Arguments = { readonly [key: string]: unknown };

/** Reads the arguments of a call by their usual names. Linear in the arguments. */
export function toolCall(input: unknown): CallArguments {
  const args: Arguments = isRecord(input) ? input : {};
  const paths = pathsIn(input);
  const patch = patchIn(input, args);
  return {
    path: findText(args, NAMES.path) ?? paths[0],
    paths,
    edits: editsIn(args),
    content: findText(args, NAMES.content) ?? findText(args, NAMES.sketch),
    patch,
    command: patch === input ? "" : toCommand(input),
    query: findText(args, NAMES.query),
    url: findText(args, NAMES.url),
    title: findText(args, NAMES.title),
  };
}

/** The argument that says most of a call; empty where none does. */
export function mainArgument(input: unknown): string {
  const { path, command, query, url, title } = toolCall(input);
  return path ?? (command || (query ?? url ?? title ?? ""));
}

/** The first of these that is a text and not empty. */
export function findText(args: Arguments, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = args[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

function editsIn(args: Arguments): EditText[] {
  const list = NAMES.edits.map((name) => args[name]).find(Array.isArray);
  const one = editIn(args);
  return list ? list.flatMap((item) => (isRecord(item) ? (editIn(item) ?? []) : [])) : one ? [one] : [];
}

/** Undefined where no pair of texts stands. */
function editIn(args: Arguments): EditText | undefined {
  for (const [from, to] of NAMES.pairs) {
    const [before, after] = [args[from], args[to]];
    if (typeof before !== "string" && typeof after !== "string") continue;
    return {
      before: typeof before === "string" ? before : "",
      after: typeof after === "string" ? after : "",
      all: isForAll(args),
    };
  }
  return undefined;
}

export const isForAll = (args: Arguments): boolean =>
  args.replace_all === true || args.replaceAll === true || args.allow_multiple === true;

function patchIn(input: unknown, args: Arguments): string | undefined {
  const text = typeof input === "string" ? input : findText(args, NAMES.patch);
  return text !== undefined && /^(?:\s*\*\*\* Begin Patch|--- |@@|diff )/.test(text) ? text : undefined;
}

/** The command text of a shell call: a string, or the words given to `bash -lc`. Empty where there is none. */
export function toCommand(input: unknown): string {
  if (typeof input === "string") return input;
  if (!isRecord(input)) return "";
  const value = NAMES.command.map((name) => input[name]).find((it) => it !== undefined && it !== null);
  if (typeof value === "string") return value;
  if (!Array.isArray(value)) return "";
  const words = value.filter((word): word is string => typeof word === "string");
  const isShell = /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0] ?? "") && /^-\w*c$/.test(words[1] ?? "");
  if (isShell) return words[2] ?? "";
  return words.map((word) => (/[\s'"]/.test(word) ? `'${word.replaceAll("'", "")}'` : word)).join(" ");
}

const PATH_KEYS = [...NAMES.path, "old_path", "new_path"];
const PATCH_HEADER =
  /^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\*\*\* Move to: (.+)$|^(?:---|\+\+\+) (?:[ab]\/)?([^\t\n]+)/gm;
/** A patch names its files early and often; a longer text is not looked through to its end. */
const PATCH_LIMIT = 1 << 20;

/**
 * Paths a tool call names, in order, each once, as written. Reads arguments by their usual names, and patch texts by their headers
 * when `role` is `patch` (or unknown and the text looks like one). Linear in the arguments.
 */
export function pathsIn(input: unknown, role?: ToolRole): string[] {
  const found = new Set<string>();
  if (typeof input === "string") {
    if (role === "patch" || input.startsWith("*** Begin Patch")) patchPaths(input, found);
  } else if (isRecord(input)) {
    for (const key of PATH_KEYS) {
      const value = input[key];
      if (typeof value === "string" && value !== "") found.add(value);
    }
    for (const key of NAMES.paths) {
      const value = input[key];
      if (!Array.isArray(value)) continue;
      for (const item of value) {
        const path = isRecord(item) ? findText(item, NAMES.path) : item;
        if (typeof path === "string" && path !== "") found.add(path);
      }
    }
    for (const key of NAMES.patch) {
      const value = input[key];
      if (typeof value === "string" && (role === "patch" || value.startsWith("*** Begin Patch")))
        patchPaths(value, found);
    }
  }
  return [...found];
}

function patchPaths(text: string, found: Set<string>): void {
  for (const match of text.slice(0, PATCH_LIMIT).matchAll(PATCH_HEADER)) {
    const path = match[1] ?? match[2] ?? match[3];
    if (path && path !== "/dev/null") found.add(path.trim());
  }
}
