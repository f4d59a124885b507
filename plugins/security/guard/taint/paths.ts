/** The files that a call would show: read once from its arguments, then resolved against its folders and the existing files. */
import { isAbsolute, resolve } from "node:path";
import { isRecord, mustYield, type Pool, type PoolTask, yieldNow } from "sessarc";
import { pathsIn, type ToolRole } from "sessarc/adapter";
import { quoted } from "sessarc/files";
import type { ToolCall } from "../payload.ts";
import type { Reaching, ReachingFile, ReachingPast, ShellLine } from "./analysis.ts";
import type { Doubt } from "./doubts.ts";
import { type BelowBudget, createBelowBudget, findFilesBelow } from "./files/below.ts";
import { findMatching, type GlobBudget } from "./files/glob.ts";
import { isStore } from "./files/stores.ts";
import type { Part } from "./part.ts";
import { seeksTokens, toSearchPart } from "./programs/search.ts";
import { type Below, WORD_LIMIT } from "./words.ts";

const FILES_LIMIT = 1_000;
/** Names that a call may mean; most strings in a program name no file. */
const NAMES_LIMIT = 4_000;
/** Names compared with the patterns of a call, and characters that their braces may produce. */
const COMPARED_LIMIT = 200_000;
const BRACES_LIMIT = 2_000_000;
/** Most resolved names of a call: each name from every folder that the line changes to. */
const RESOLVED_LIMIT = 20_000;
/** Names of reading tools whose adapter is not loaded, also after the name of an MCP server. */
const READERS =
  /(?:^|__|[./:-])(?:read|read_?(?:text_?|media_?|multiple_?|many_?)?files?|view|view_?image|open_?file|cat|notebook_?read|beforeReadFile)$/i;
/** Tools that show the files of a folder. Others show only their names. */
const MANY = /files$/i;
/** Tools that type into a running shell. */
const TYPERS = /^write_(?:stdin|bash|powershell)$/;
/** Tools that search files for a pattern, and of these those that show the lines only if they are asked to. */
const SEARCHERS = /grep|search_?(?:file_?)?(?:content|text)|search_files/i;
const LINES_IF_ASKED = /^Grep$/;
/** Arguments with the folder in which a command runs. */
const FOLDER_KEYS = ["workdir", "working_directory", "cwd", "directory", "dir_path"];
/** Characters of a line that is parsed at once: the worst line of this length takes less than 50 ms. */
const SHORT = 8 * 1024;
/** Characters that the pool parses of longer lines. */
const LONG = 8 * 2 ** 20;
/** A line up to this length gets more time than the call has, because a small call must not be blocked on a busy machine. */
const PATIENT = { length: 512 * 1024, ms: 5_000 };
const TOKENS_CUT: Doubt = { kind: "probable-secret", what: "a search for tokens in more files than can be checked" };

/** What the arguments of a call name. */
export interface CallPaths {
  role: ToolRole | undefined;
  /** The tool shows files. */
  reads: boolean;
  /** As written, each once. */
  named: string[];
  /** Those of fields that name a file for a reading tool alone. */
  listed: string[];
  /** Folders that the names may be relative to: that of the session, and the one that the call names. */
  folders: string[];
}

/** The sources of a call that reach the answer. */
export interface CallSources extends Pick<Reaching, "doubts" | "unsure" | "cut"> {
  paths: string[];
  /** Parts of the files of which only parts arrive. */
  parts: Map<string, Part[]>;
  /** Folders are read as well. A search shows only names and matches of a folder. */
  folders: boolean;
  /** The tool shows all files of a folder. */
  many: boolean;
  /** Those of `paths` that hold credentials in any form, if the call names them from a fixed folder: they are asked about even if the guard cannot read them. */
  stores: Set<string>;
  /** What git prints of the history, and the folders in which it does. */
  past: (ReachingPast & { places: string[] })[];
}

const SHELL: PoolTask<[ShellLine], Reaching> = {
  specifier: "sessarc/plugins/security/guard/taint/analysis",
  export: "analyseLine",
  inline: async (line) => (await import("./analysis.ts")).analyseLine(line),
};

interface Options {
  home: string;
  pool: Pool;
  /** Milliseconds that reading a long shell line may take. */
  ms: number;
}

/** Reads the paths that the arguments name. Opens no file. */
export function readPaths(call: ToolCall, role: ToolRole | undefined): CallPaths {
  const { tool_input: input, cwd } = call;
  const reads = role === "read" || READERS.test(call.tool_name);
  // `read_many_files` has its paths in another field; MCP servers take addresses.
  const list = isRecord(input) ? [...(Array.isArray(input.include) ? input.include : []), input.uri] : [];
  const listed = list.filter((item): item is string => typeof item === "string");
  const own = isRecord(input) ? FOLDER_KEYS.map((key) => input[key]) : [];
  const folders = cwd !== null && isAbsolute(cwd) ? [cwd] : [];
  for (const folder of own)
    if (typeof folder === "string" && (isAbsolute(folder) || folders.length > 0))
      folders.push(resolve(cwd ?? "/", folder));
  return { role, reads, named: pathsIn(input, role), listed, folders };
}

/** The first file that a call names; undefined if its folder is unknown. */
export function findFirstPath({ named, listed, folders }: CallPaths, home: string): string | undefined {
  return [...named, ...listed].flatMap((name) => toAbsolute(toHome(name, home), folders)).at(0);
}

/** Returns the files that `call` would show. Does not open them. */
export async function findSources(call: ToolCall, given: CallPaths, options: Options): Promise<CallSources> {
  const { home } = options;
  const { reads, folders } = given;
  const line = await analyse(call, given, options);
  const files = line?.files ?? findFilesOfTool(call, given, home);
  const budget: GlobBudget = { names: COMPARED_LIMIT, characters: BRACES_LIMIT, cut: files.length > NAMES_LIMIT };
  const found = { paths: new Set<string>(), whole: new Set<string>(), parts: new Map<string, Part[]>() };
  const stores = new Set<string>();
  let walk: BelowBudget | undefined;
  let resolved = 0;
  let tokensCut = false;
  const add = (path: string, part: Part | undefined) => {
    found.paths.add(path);
    if (part === undefined) found.whole.add(path);
    else if (!found.parts.get(path)?.push(part)) found.parts.set(path, [part]);
  };
  for (const { path, pattern, folders: inside, part, below } of files.slice(0, NAMES_LIMIT)) {
    const bases = toAbsolute(path, folders, inside);
    for (const base of new Set(bases)) {
      if (below) {
        walk ??= createBelowBudget();
        for (const file of await findFilesBelow(base, below, walk)) add(file, part);
        tokensCut ||= walk.cut && below.tokens === true;
      }
      if (isAbsolute(withoutScheme(path)) && isStore(base)) stores.add(base);
      for (const one of pattern ? [...(await findMatching(base, FILES_LIMIT, budget, reads)), base] : [base])
        add(one, part);
      if (mustYield()) await yieldNow();
    }
    resolved += bases.length;
    budget.cut ||= resolved > RESOLVED_LIMIT;
    if (found.paths.size > NAMES_LIMIT || resolved > RESOLVED_LIMIT) break;
  }
  for (const path of found.whole) found.parts.delete(path);
  return {
    paths: [...found.paths].slice(0, NAMES_LIMIT),
    parts: found.parts,
    folders: reads,
    many: MANY.test(call.tool_name),
    unsure: (line?.unsure ?? false) || walk?.cut === true,
    stores,
    past: (line?.past ?? []).map((past) => ({ ...past, places: [...new Set(toPlaces(folders, past.folders))] })),
    doubts: [...(line?.doubts ?? []), ...(tokensCut ? [TOKENS_CUT] : [])],
    cut: (line?.cut ?? false) || budget.cut || found.paths.size > NAMES_LIMIT,
  };
}

const toPlaces = (folders: readonly string[], inside: readonly string[], path = ""): string[] =>
  folders.flatMap((folder) => inside.map((place) => resolve(folder, place, path)));

/** The path from each folder that it may be relative to. */
function toAbsolute(written: string, folders: readonly string[], inside: readonly string[] = [""]): string[] {
  const path = withoutScheme(written);
  return isAbsolute(path) ? [path] : toPlaces(folders, inside, path);
}

/** What the shell line of a call shows; undefined if the call has none. Reads a short line at once. A long line, or one that takes more work, is read in the pool by a thread that ends after `ms`. */
async function analyse(call: ToolCall, { reads, role }: CallPaths, { home, pool, ms }: Options) {
  const line = reads || (role !== undefined && role !== "shell") ? "" : readCommand(call);
  if (line === "") return undefined;
  const job: ShellLine = { line, placed: call.cwd !== null, home, limit: NAMES_LIMIT, characters: 2 * SHORT };
  if (line.length <= SHORT) {
    const reaching = await SHELL.inline(job);
    if (!reaching.cut) return reaching;
  }
  const time = line.length > PATIENT.length ? ms : PATIENT.ms;
  const signal = AbortSignal.timeout(Math.max(1, Math.floor(time)));
  try {
    return await pool.run({ ...SHELL, signal }, { ...job, characters: LONG });
  } catch (error) {
    if (!signal.aborted) throw error;
    return { files: [], past: [], doubts: [], unsure: false, cut: true };
  }
}

/** The files that a tool reads or searches. */
function findFilesOfTool(call: ToolCall, { role, reads, named, listed }: CallPaths, home: string): ReachingFile[] {
  if (!reads && role !== "search") return [];
  const files: ReachingFile[] = (reads ? [...named, ...listed] : named).map((path) => ({
    path: toHome(path, home),
    pattern: reads && /[*?[{]/.test(path),
    folders: [""],
  }));
  const search = reads ? undefined : readToolSearch(call);
  const places = named.length > 0 ? named : ["."];
  return search ? [...files, ...places.map((path) => ({ ...search, path: toHome(path, home) }))] : files;
}

const toHome = (path: string, home: string): string => path.slice(0, WORD_LIMIT).replace(/^~(?=\/|$)/, home);

/** What a search shows of the files in its folder; undefined if it shows only their names. */
function readToolSearch({
  namesFound,
  tool_name,
  tool_input: input,
}: ToolCall): Omit<ReachingFile, "path"> | undefined {
  if (!isRecord(input) || !SEARCHERS.test(tool_name)) return undefined;
  const pattern = input.pattern ?? input.regex ?? input.query;
  const isAsked = LINES_IF_ASKED.test(tool_name) || namesFound === true;
  if (typeof pattern !== "string" || (isAsked ? input.output_mode !== "content" : input.output_mode === "count"))
    return undefined;
  const named = input.glob ?? input.include ?? input.include_pattern ?? input.file_pattern;
  const context = [input["-A"], input["-B"], input["-C"], input.context].some(
    (lines) => typeof lines === "number" && lines > 0,
  );
  const below: Below = {
    names: typeof named === "string" ? [named.slice(0, WORD_LIMIT)] : [],
    ignores: true,
    tokens: seeksTokens(pattern),
  };
  const part = toSearchPart(pattern.slice(0, WORD_LIMIT), { ignoresCase: input["-i"] === true, context });
  return { pattern: false, folders: [""], below, part };
}

/** `file:///w/a%20b` → `/w/a b`. */
function withoutScheme(path: string): string {
  const [, rest] = /^file:\/\/(?:localhost)?(\.?\/.*)$/is.exec(path) ?? [];
  if (rest === undefined) return path;
  try {
    return decodeURIComponent(rest);
  } catch {
    return rest;
  }
}

function readCommand({ tool_name, tool_input: input }: ToolCall): string {
  if (typeof input === "string") return input;
  if (!isRecord(input)) return "";
  if (TYPERS.test(tool_name)) {
    const typed = input.chars ?? input.input;
    // Enter ends the line; Ctrl-C and Ctrl-D also end the running program.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for them
    return typeof typed === "string" ? typed.replace(/\{[a-z]+\}|[\r\x03\x04\x15]/g, "\n") : "";
  }
  const command = input.command ?? input.cmd ?? input.script;
  if (!Array.isArray(command)) return typeof command === "string" ? command : "";
  const words = command.filter((word): word is string => typeof word === "string");
  return words.map(quoted).join(" ");
}
