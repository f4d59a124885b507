/** Files a call would show: found in its arguments, opened with care. */
import { constants } from "node:fs";
import { open, readdir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { crc32, gunzipSync, constants as zlib } from "node:zlib";
import { isRecord, type Json, type Pool, type PoolTask, type ToolRole } from "sessarc";
import { Slices } from "#internal";
import { pathsIn } from "#internal/adapter";
import { type Looking, matching } from "./glob.ts";
import { partsOf } from "./parts.ts";
import type { ToolCall } from "./payload.ts";
import type { ShellLine, Shown, ShownFile } from "./shown.ts";
import { WORD_LIMIT } from "./words.ts";

/** A file is looked at up to here. */
export const READ_LIMIT = 16 * 2 ** 20;
const FILES_LIMIT = 1_000;
/** Names a call may mean; most strings of a program are no file's. */
const NAMES_LIMIT = 4_000;
/** Files of one folder. */
const FOLDER_LIMIT = 1_000;
/** Names compared with all the patterns of a call, and characters that their braces may make. */
const COMPARED_LIMIT = 200_000;
const BRACES_LIMIT = 2_000_000;
/** Ways to resolve the names of a call: each from every folder that the line goes to. */
const RESOLVED_LIMIT = 20_000;
/** Bytes read at once of a file that does not say how many it has. */
const UNKNOWN = 4096;
/** Names of reading tools where the adapter is not loaded, and behind the name of an MCP server. */
const READERS =
  /(?:^|__|[./:-])(?:read|read_?(?:text_?|media_?|multiple_?|many_?)?files?|view|view_?image|open_?file|cat|notebook_?read|beforeReadFile)$/i;
/** They show files of a folder; others that read show its names. */
const MANY = /files$/i;
/** They type into a shell that runs already. */
const TYPERS = /^write_(?:stdin|bash|powershell)$/;
/** Arguments that name the folder a command runs in. */
const FOLDER_KEYS = ["workdir", "working_directory", "cwd", "directory", "dir_path"];

export interface ReadFile {
  /** As the call names it. */
  path: string;
  text: string;
  /** Changes when the file does. */
  version: string;
  /** There is more of it than was read. */
  cut: boolean;
}

export interface Reads {
  paths: string[];
  /** Those of which only parts are shown: the values of variables, or with "" the names of all. */
  parts: Map<string, string[]>;
  /** A search shows no more of a folder than names and matches; only files it names are read. */
  folders: boolean;
  /** All files of a folder are shown for sure. */
  many: boolean;
  /** More is shown than can be known beforehand. */
  unsure: boolean;
  /** Commands that print a credential of no file. */
  prints: string[];
  /** There are more files than are looked at. */
  cut: boolean;
}

const SHELL: PoolTask<[ShellLine], Shown> = {
  specifier: "sessarc/plugins/security/guard/shown",
  export: "filesShown",
  inline: async (line) => (await import("./shown.ts")).filesShown(line),
};
/** Characters of a line that is parsed at once: the worst line of this length takes less than 50 ms. */
const SHORT = 16 * 1024;
/** Characters that the pool parses of longer lines. */
const LONG = 8 * 2 ** 20;

export interface ReadOptions {
  home: string;
  pool: Pool;
  /** Milliseconds that reading a long shell line may take. */
  ms: number;
}

/** Reads a short line at once, and a longer one or one that takes more work in the pool, in a thread that ends when the time is over. */
async function shownBy(line: string, placed: boolean, { home, pool, ms }: ReadOptions): Promise<Shown> {
  const job: ShellLine = { line, placed, home, limit: NAMES_LIMIT, characters: 2 * SHORT };
  if (line.length <= SHORT) {
    const shown = await SHELL.inline(job);
    if (!shown.cut) return shown;
  }
  const signal = AbortSignal.timeout(Math.max(1, Math.floor(ms)));
  try {
    return await pool.run({ ...SHELL, signal }, { ...job, characters: LONG });
  } catch (error) {
    if (!signal.aborted) throw error;
    return { files: [], unsure: false, prints: [], cut: true };
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
  const files: ShownFile[] =
    shown?.files ??
    (reads || role === "search" ? named : []).map((path) => ({
      path: path.slice(0, WORD_LIMIT).replace(/^~(?=\/|$)/, home),
      pattern: reads && /[*?[{]/.test(path),
      folders: [""],
    }));
  const paths = new Set<string>();
  const whole = new Set<string>();
  const parts = new Map<string, string[]>();
  const places = placesOf(call);
  const looking: Looking = { names: COMPARED_LIMIT, characters: BRACES_LIMIT, cut: files.length > NAMES_LIMIT };
  const slices = new Slices();
  let resolved = 0;
  for (const { path: written, pattern, folders, part } of files.slice(0, NAMES_LIMIT)) {
    const path = withoutScheme(written);
    const bases = isAbsolute(path)
      ? [path]
      : places.flatMap((place) => folders.map((folder) => resolve(place, folder, path)));
    for (const base of new Set(bases)) {
      for (const one of pattern ? [...(await matching(base, FILES_LIMIT, looking, reads)), base] : [base]) {
        paths.add(one);
        if (part === undefined) whole.add(one);
        else if (!parts.get(one)?.push(part)) parts.set(one, [part]);
      }
      if (slices.due) await slices.turn();
    }
    resolved += bases.length;
    looking.cut ||= resolved > RESOLVED_LIMIT;
    if (paths.size > NAMES_LIMIT || resolved > RESOLVED_LIMIT) break;
  }
  for (const path of whole) parts.delete(path);
  return {
    paths: [...paths].slice(0, NAMES_LIMIT),
    parts,
    folders: reads,
    many: MANY.test(call.tool_name),
    unsure: shown?.unsure ?? false,
    prints: shown?.prints ?? [],
    cut: (shown?.cut ?? false) || looking.cut || paths.size > NAMES_LIMIT,
  };
}

/** Where its names may begin: the folder of the session, and the one the call names. */
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

/** The smallest first; those that are not there left out. `cut`: there are more than are looked at. */
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

/** `read_many_files` lists paths under other names, MCP servers take addresses. */
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
    // Keys end what was typed before: Enter, and with Ctrl-C or Ctrl-D also what runs.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    return typeof typed === "string" ? typed.replace(/\{[a-z]+\}|[\r\x03\x04\x15]/g, "\n") : "";
  }
  const command = input.command ?? input.cmd ?? input.script;
  if (!Array.isArray(command)) return typeof command === "string" ? command : "";
  const words = command.filter((word): word is string => typeof word === "string");
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

export interface ReadPath {
  files: ReadFile[];
  /** There are more files in the folder than are looked at. */
  cut: boolean;
}

/** The beginning of a regular file, or only `parts` of it (where asked, of the files in a folder, together), links followed. Nothing for what cannot be read. */
export async function readPath(path: string, folders: boolean, parts?: readonly string[]): Promise<ReadPath> {
  const none: ReadPath = { files: [], cut: false };
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return none;
  const one = await readOne(real, path, READ_LIMIT);
  if (one && one !== "folder" && parts) {
    const [text, version] = [partsOf(one.text, parts), `${one.version} ${parts}`];
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
  // A pipe without a writer would keep a plain open waiting.
  const file = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) return "folder";
    if (!stat.isFile()) return undefined;
    // One byte more than may be looked at tells that there is more. Files of /proc say that they have none.
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
    const told = stat.size === filled ? "" : crc32(shown);
    // Anybody may set the time of the last write, and nobody that of the last change.
    const version = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs} ${stat.ctimeMs} ${told}`;
    return { path, text: decode(unpacked(shown, limit)), version, cut: filled > limit };
  } catch {
    // What we cannot read, the tool cannot show either.
    return undefined;
  } finally {
    await file.close();
  }
}

/** What `zcat` shows of a packed file; of a damaged one what it is. */
function unpacked(bytes: Buffer, limit: number): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: limit, finishFlush: zlib.Z_SYNC_FLUSH });
  } catch {
    return bytes;
  }
}

/** UTF-8, or UTF-16 by its mark or by the zeroes between its letters. */
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
