/** Files a call would read: found in its arguments, opened with care, scanned up to 2 MiB. */
import { constants } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { type Json, pathsIn, type ToolRole } from "sessarc";
import type { ToolCall } from "./payload.ts";

export const READ_LIMIT = 2 * 2 ** 20;
const FILES_LIMIT = 32;
/** Names of reading tools where the adapter is not loaded. */
const READERS = /^(?:read|read_?file|view|view_?image|open_?file|cat|notebook_?read|read_many_files|beforeReadFile)$/i;
/** Commands that print the files they are given. */
const PRINTERS = /^(?:cat|bat|head|tail|less|more|nl|tac|strings|xxd|od|base64|type|get-content|gc)$/i;

export interface ReadFile {
  /** As the call names it. */
  path: string;
  text: string;
  /** Changes when the file does. */
  version: string;
}

/** Paths of the files `call` would show, resolved against its folder; not looked at yet. */
export function pathsRead(call: ToolCall, role: ToolRole | undefined, home: string): string[] {
  const named =
    role === "read" || READERS.test(call.tool_name)
      ? [...pathsIn(call.tool_input, role), ...globFree(call.tool_input)]
      : role === "search"
        ? pathsIn(call.tool_input, role)
        : printed(commandOf(call.tool_input));
  return [...new Set(named)].slice(0, FILES_LIMIT).flatMap((path) => {
    const full = path === "~" || path.startsWith("~/") ? join(home, path.slice(1)) : path;
    return isAbsolute(full) ? [full] : call.cwd && isAbsolute(call.cwd) ? [resolve(call.cwd, full)] : [];
  });
}

/** `read_many_files` lists paths under other names. */
function globFree(input: Json): string[] {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return [];
  const list = input.include;
  return Array.isArray(list)
    ? list.filter((item): item is string => typeof item === "string" && !/[*?[{]/.test(item))
    : [];
}

function commandOf(input: Json): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null || Array.isArray(input)) return "";
  const command = input.command ?? input.cmd ?? input.script;
  if (Array.isArray(command)) {
    const words = command.filter((word): word is string => typeof word === "string");
    // `["bash", "-lc", "cat .env"]`
    return /^-\w*c$/.test(words[1] ?? "") ? (words[2] ?? "") : words.map((word) => `'${word}'`).join(" ");
  }
  return typeof command === "string" ? command : "";
}

/** Files that the printing commands of a shell line name. Expansions are not followed. */
function printed(command: string): string[] {
  const paths: string[] = [];
  for (const part of command.slice(0, 20_000).split(/[;|&\n(){}]+|\$\(/)) {
    const words = [
      ...part.matchAll(/'([^']{0,4096})'|"([^"$`]{0,4096})"|([^\s'"<>]{1,4096})|<\s*([^\s'"<>]{1,4096})/g),
    ];
    const [program, ...rest] = words.map((word) => word[1] ?? word[2] ?? word[3] ?? word[4] ?? "");
    for (const word of words) if (word[4]) paths.push(word[4]);
    if (program === undefined || !PRINTERS.test(program.split("/").at(-1) ?? "")) continue;
    paths.push(...rest.filter((word) => word !== "" && !word.startsWith("-") && !/[$*?`]/.test(word)));
  }
  return paths;
}

/** The first 2 MiB of a regular file (of the files in a folder, together), links followed. Nothing for what cannot be read. */
export async function readPath(path: string): Promise<ReadFile[]> {
  const real = await realpath(path).catch(() => undefined);
  if (real === undefined) return [];
  const one = await readOne(real, path, READ_LIMIT);
  if (one !== "folder") return one ? [one] : [];
  const files: ReadFile[] = [];
  let left = READ_LIMIT;
  const entries = await readdir(real, { withFileTypes: true }).catch(() => []);
  for (const entry of entries
    .filter((it) => it.isFile())
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .slice(0, 200)) {
    if (left <= 0) break;
    const file = await readOne(join(real, entry.name), join(path, entry.name), left);
    if (!file || file === "folder") continue;
    files.push(file);
    left -= Buffer.byteLength(file.text);
  }
  return files;
}

async function readOne(real: string, path: string, limit: number): Promise<ReadFile | "folder" | undefined> {
  // A pipe without a writer would keep a plain open waiting.
  const file = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const stat = await file.stat();
    if (stat.isDirectory()) return "folder";
    if (!stat.isFile()) return undefined;
    const bytes = Buffer.alloc(Math.min(limit, Math.max(stat.size, 4096)));
    let filled = 0;
    for (;;) {
      const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
      if (filled === bytes.length) break;
    }
    const version = `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeMs}`;
    return { path, text: decode(bytes.subarray(0, filled)), version };
  } catch {
    // What we cannot read, the tool cannot show either.
    return undefined;
  } finally {
    await file.close();
  }
}

function decode(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.subarray(2).toString("utf16le");
  return bytes.toString("utf8");
}
