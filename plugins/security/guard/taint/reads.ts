/** The files that a call would show: finds their names in its arguments and reads them. */
import { constants } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { crc32, gunzipSync, constants as zlib } from "node:zlib";
import { isRecord, type Json, mustYield, type Pool, type PoolTask, yieldNow } from "sessarc";
import { pathsIn, type ToolRole } from "sessarc/adapter";
import type { ToolCall } from "../payload.ts";
import type { Reaching, ReachingFile, ReachingPast, ShellLine } from "./analysis.ts";
import { belowBudget, filesBelow } from "./below.ts";
import type { Doubt } from "./doubts.ts";
import { type GlobBudget, matching } from "./glob.ts";
import { cutParts, type Part, toKey } from "./part.ts";
import { seeksTokens, toSearchPart } from "./search.ts";
import { isStore } from "./stores.ts";
import { type Below, WORD_LIMIT } from "./words.ts";

/** Bytes of a file that are checked. */
const READ_LIMIT = 16 * 2 ** 20;
const FILES_LIMIT = 1_000;
/** Names that a call may mean; most strings in a program name no file. */
const NAMES_LIMIT = 4_000;
/** Most files of one folder. */
const FOLDER_LIMIT = 1_000;
/** Names compared with the patterns of a call, and characters that their braces may produce. */
const COMPARED_LIMIT = 200_000;
const BRACES_LIMIT = 2_000_000;
/** Most resolved names of a call: each name from every folder that the line changes to. */
const RESOLVED_LIMIT = 20_000;
/** Bytes read at once from a file whose size is unknown. */
const UNKNOWN = 4096;
/** Names of reading tools whose adapter is not loaded, also after the name of an MCP server. */
const READERS =
  /(?:^|__|[./:-])(?:read|read_?(?:text_?|media_?|multiple_?|many_?)?files?|view|view_?image|open_?file|cat|notebook_?read|beforeReadFile)$/i;
/** Tools that show the files of a folder. Others show only their names. */
const MANY = /files$/i;
/** Tools that type into a running shell. */
const TYPERS = /^write_(?:stdin|bash|powershell)$/;
/** Arguments with the folder in which a command runs. */
const FOLDER_KEYS = ["workdir", "working_directory", "cwd", "directory", "dir_path"];

export interface ReadFile {
  /** The path as the call spells it. */
  path: string;
  text: string;
  /** Changes when the file does. */
  version: string;
  /** The file is longer than what was read. */
  cut: boolean;
}

export interface Reads {
  paths: string[];
  /** Parts of the files that are shown only in part. */
  parts: Map<string, Part[]>;
  /** Folders are read as well. A search shows only names and matches of a folder. */
  folders: boolean;
  /** The tool shows all files of a folder. */
  many: boolean;
  /** The call shows files that cannot be determined before it runs. */
  unsure: boolean;
  /** Those of `paths` that hold credentials in any form, if the call names them from a fixed folder: they are asked about even if the guard cannot read them. */
  stores: Set<string>;
  /** What git prints of the history, and the folders in which it does. */
  past: (ReachingPast & { places: string[] })[];
  /** Commands that may show a credential that is in no file, or run code that is encoded or downloaded. */
  doubts: Doubt[];
  /** Some files were left out. */
  cut: boolean;
}

const SHELL: PoolTask<[ShellLine], Reaching> = {
  specifier: "sessarc/plugins/security/guard/taint/analysis",
  export: "analyseLine",
  inline: async (line) => (await import("./analysis.ts")).analyseLine(line),
};
/** Characters of a line that is parsed at once: the worst line of this length takes less than 50 ms. */
const SHORT = 8 * 1024;
/** Characters that the pool parses of longer lines. */
const LONG = 8 * 2 ** 20;
/** A line up to this length gets more time than the call has, because a small call must not be blocked on a busy machine. */
const PATIENT = { length: 512 * 1024, ms: 5_000 };

interface ReadOptions {
  home: string;
  pool: Pool;
  /** Milliseconds that reading a long shell line may take. */
  ms: number;
}

/** Reads a short line at once. A long line, or one that takes more work, is read in the pool by a thread that ends after `ms`. */
async function shownBy(line: string, placed: boolean, { home, pool, ms }: ReadOptions): Promise<Reaching> {
  const job: ShellLine = { line, placed, home, limit: NAMES_LIMIT, characters: 2 * SHORT };
  if (line.length <= SHORT) {
    const shown = await SHELL.inline(job);
    if (!shown.cut) return shown;
  }
  const time = line.length > PATIENT.length ? ms : PATIENT.ms;
  const signal = AbortSignal.timeout(Math.max(1, Math.floor(time)));
  try {
    return await pool.run({ ...SHELL, signal }, { ...job, characters: LONG });
  } catch (error) {
    if (!signal.aborted) throw error;
    return { files: [], unsure: false, past: [], doubts: [], cut: true };
  }
}

/** Returns the paths of the files that `call` would show, resolved against its folder. Does not open them. */
export async function pathsRead(call: ToolCall, role: ToolRole | undefined, options: ReadOptions): Promise<Reads> {
  const { home } = options;
  const reads = role === "read" || READERS.test(call.tool_name);
  const command = commandOf(call);
  const shown =
    reads || (role !== undefined && role !== "shell") || command === ""
      ? undefined
      : await shownBy(command, call.cwd !== null, options);
  const named = reads
    ? [...pathsIn(call.tool_input, role), ...listed(call.tool_input)]
    : pathsIn(call.tool_input, role);
  const files: ReachingFile[] =
    shown?.files ??
    (reads || role === "search" ? named : []).map((path) => ({
      path: path.slice(0, WORD_LIMIT).replace(/^~(?=\/|$)/, home),
      pattern: reads && /[*?[{]/.test(path),
      folders: [""],
    }));
  const search = reads || role !== "search" ? undefined : searchOfTool(call);
  if (search)
    files.push(...(named.length > 0 ? named : ["."]).map((path) => ({ ...search, path: atHome(path, home) })));
  const paths = new Set<string>();
  const whole = new Set<string>();
  const parts = new Map<string, Part[]>();
  const places = placesOf(call);
  const budget: GlobBudget = { names: COMPARED_LIMIT, characters: BRACES_LIMIT, cut: files.length > NAMES_LIMIT };
  const stores = new Set<string>();
  const walk = belowBudget();
  let resolved = 0;
  const add = (path: string, part: Part | undefined) => {
    paths.add(path);
    if (part === undefined) whole.add(path);
    else if (!parts.get(path)?.push(part)) parts.set(path, [part]);
  };
  let tokensCut = false;
  for (const { path: written, pattern, folders, part, below } of files.slice(0, NAMES_LIMIT)) {
    const path = withoutScheme(written);
    const bases = isAbsolute(path)
      ? [path]
      : places.flatMap((place) => folders.map((folder) => resolve(place, folder, path)));
    for (const base of new Set(bases)) {
      if (below) {
        for (const file of await filesBelow(base, below, walk)) add(file, part);
        tokensCut ||= walk.cut && below.tokens === true;
      }
      if (isAbsolute(path) && isStore(base)) stores.add(base);
      for (const one of pattern ? [...(await matching(base, FILES_LIMIT, budget, reads)), base] : [base]) {
        add(one, part);
      }
      if (mustYield()) await yieldNow();
    }
    resolved += bases.length;
    budget.cut ||= resolved > RESOLVED_LIMIT;
    if (paths.size > NAMES_LIMIT || resolved > RESOLVED_LIMIT) break;
  }
  for (const path of whole) parts.delete(path);
  return {
    paths: [...paths].slice(0, NAMES_LIMIT),
    parts,
    folders: reads,
    many: MANY.test(call.tool_name),
    unsure: (shown?.unsure ?? false) || walk.cut,
    stores,
    past: (shown?.past ?? []).map((past) => ({
      ...past,
      places: [...new Set(places.flatMap((place) => past.folders.map((folder) => resolve(place, folder))))],
    })),
    doubts: [...(shown?.doubts ?? []), ...(tokensCut ? [TOKENS_CUT] : [])],
    cut: (shown?.cut ?? false) || budget.cut || paths.size > NAMES_LIMIT,
  };
}

const TOKENS_CUT: Doubt = { kind: "probable-secret", what: "a search for tokens in more files than can be checked" };

const atHome = (path: string, home: string): string => path.slice(0, WORD_LIMIT).replace(/^~(?=\/|$)/, home);

/** Tools that search files for a pattern. */
const SEARCHERS = /grep|search_?(?:file_?)?(?:content|text)|search_files/i;
/** Of these tools, those that show the lines only if they are asked to. */
const LINES_IF_ASKED = /^Grep$/;

/** What a search shows of the files in its folder; undefined if it shows only their names. */
function searchOfTool({ namesFound, tool_name, tool_input: input }: ToolCall): Omit<ReachingFile, "path"> | undefined {
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

/** Folders that the names may be relative to: that of the session, and the one that the call names. */
function placesOf({ cwd, tool_input: input }: ToolCall): string[] {
  const named = isRecord(input) ? FOLDER_KEYS.map((key) => input[key]) : [];
  const places = cwd !== null && isAbsolute(cwd) ? [cwd] : [];
  for (const place of named)
    if (typeof place === "string" && (isAbsolute(place) || places.length > 0)) places.push(resolve(cwd ?? "/", place));
  return places;
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

/** Returns the existing files, the smallest first. `cut`: some were left out. */
export async function smallestFirst(paths: readonly string[]): Promise<{ there: string[]; cut: boolean }> {
  const sizes = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  const there = paths
    .flatMap((path, n) => {
      const size = sizes[n]?.size;
      return size === undefined ? [] : [{ path, size }];
    })
    .sort((a, b) => a.size - b.size)
    .map(({ path }) => path);
  return { there: there.slice(0, FILES_LIMIT), cut: there.length > FILES_LIMIT };
}

/** `read_many_files` has its paths in other fields; MCP servers take addresses. */
function listed(input: Json): string[] {
  if (!isRecord(input)) return [];
  const list = Array.isArray(input.include) ? input.include : [];
  return [...list, input.uri].filter((item): item is string => typeof item === "string");
}

function commandOf({ tool_name, tool_input: input }: ToolCall): string {
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
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

interface ReadPath {
  files: ReadFile[];
  /** Some files of the folder were left out. */
  cut: boolean;
}

/** Reads the beginning of a regular file or only its `parts`; with `folders` also the files of a folder. Follows links. Returns no files if the path cannot be read. */
export async function readPath(path: string, folders: boolean, parts?: readonly Part[]): Promise<ReadPath> {
  const none: ReadPath = { files: [], cut: false };
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return none;
  const one = await readOne(real, path, READ_LIMIT);
  if (one && one !== "folder" && parts) {
    const [text, version] = [cutParts(one.text, parts), `${one.version} ${parts.map(toKey).join()}`];
    return { files: [{ ...one, text, version }], cut: false };
  }
  if (one !== "folder") return one ? { files: [one], cut: false } : none;
  if (!folders) return none;
  const entries = await readdir(real, { withFileTypes: true }).catch(() => []);
  const names = entries.flatMap((entry) => (entry.isFile() || entry.isSymbolicLink() ? [entry.name] : [])).sort();
  const files: ReadFile[] = [];
  let left = READ_LIMIT;
  for (const name of names.slice(0, FOLDER_LIMIT)) {
    if (left <= 0) return { files, cut: true };
    const file = await readOne(join(real, name), join(path, name), left);
    if (!file || file === "folder") continue;
    files.push(file);
    left -= Buffer.byteLength(file.text);
  }
  return { files, cut: names.length > FOLDER_LIMIT };
}

async function readOne(real: string, path: string, limit: number): Promise<ReadFile | "folder" | undefined> {
  // Without this flag, opening a pipe that has no writer would block.
  const file = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) return "folder";
    if (!stat.isFile()) return undefined;
    // One byte more than the limit shows that the file is longer. Files of /proc report a size of 0.
    let bytes = Buffer.alloc(Math.min(limit, Math.max(stat.size, UNKNOWN)) + 1);
    let filled = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
      if (filled > limit) break;
      if (filled === bytes.length) bytes = Buffer.concat([bytes, Buffer.alloc(Math.min(filled, limit + 1 - filled))]);
    }
    const shown = bytes.subarray(0, Math.min(filled, limit));
    const checksum = stat.size === filled ? "" : crc32(shown);
    // Any user can set mtime, but not ctime.
    const version = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${checksum}`;
    return { path, text: decode(unpacked(shown, limit)), version, cut: filled > limit };
  } catch {
    // The tool cannot read this file either.
    return undefined;
  } finally {
    await file.close();
  }
}

/** Unpacks gzip. Returns damaged files as they are. */
function unpacked(bytes: Buffer, limit: number): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limit, finishFlush: zlib.Z_SYNC_FLUSH });
  } catch {
    return bytes;
  }
}

/** Decodes UTF-8, or UTF-16 by its mark or by the zeroes between letters. */
function decode(bytes: Buffer): string {
  const head = bytes.subarray(0, 512);
  const zeroes = (parity: number) => head.filter((byte, index) => byte === 0 && index % 2 === parity).length;
  const [even, odd] = [zeroes(0), zeroes(1)];
  const half = head.length / 2;
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (odd > half * 0.6 && even < half * 0.1))
    return bytes.toString("utf16le");
  if ((bytes[0] === 0xfe && bytes[1] === 0xff) || (even > half * 0.6 && odd < half * 0.1))
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString("utf16le");
  return bytes.toString("utf8");
}
