/** Random sessions of every tool's edit kinds, beside a model that applies them on its own. */
import type { Json } from "sessarc";

export type Files = Map<string, Buffer>;
export interface Call {
  name: string;
  input: Json;
}
export interface Scenario {
  tool: string;
  /** Files of the commit. */
  before: Files;
  calls: Call[];
  /** Files as the model left them. */
  after: Files;
}

export type Random = (below: number) => number;

/** Mulberry32. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)] as T;

const NAMES = [
  "a.txt",
  "src/b.js",
  "src/deep/ü ñ.md",
  "日本/語.txt",
  "emoji 🐦.txt",
  "with 'quote'.txt",
  "$HOME/$(x).txt",
  "-dash",
  "e.bin",
];
const WORDS = ["alpha", "$&", "$1", "$$", "`tick`", "été", "日本", "🐦", "\\n", "a  b", "\t", "$`", "%s", "</x>"];

let unique = 0;
const word = (random: Random) => `${pick(random, WORDS)}${(unique++).toString(36)}_`;
const line = (random: Random) => Array.from({ length: 1 + random(3) }, () => word(random)).join(" ");
const lines = (random: Random, most: number) => Array.from({ length: 1 + random(most) }, () => line(random));

function content(random: Random): Buffer {
  const text = lines(random, 12);
  switch (random(8)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return Buffer.from(text.map((one) => `${one}\r\n`).join(""));
    case 2:
      return Buffer.from(`\ufeff${text.join("\n")}\n`);
    case 3:
      return Buffer.from(text.join("\n"));
    case 4:
      return Buffer.concat([
        Buffer.from([0, 255, 254, 128, 10]),
        Buffer.from(text.join("\n")),
        Buffer.from([0xc3, 0x28, 0]),
      ]);
    case 5:
      return Buffer.from(`\ufeff${text.join("\r\n")}\r\n`, "utf16le");
    default:
      return Buffer.from(`${text.join("\n")}\n`);
  }
}

const isWide = (data: Buffer) => data[0] === 0xff && data[1] === 0xfe && data.length % 2 === 0;
const isCrlf = (text: string) => /\r\n/.test(text) && !/[^\r]\n|^\n/.test(text);

/** Replaces the one place where `old` stands, by bytes. */
function splice(data: Buffer, old: Buffer, next: Buffer): Buffer {
  const from = data.indexOf(old);
  return Buffer.concat([data.subarray(0, from), next, data.subarray(from + old.length)]);
}

interface Style {
  write?: (path: string, text: string) => Call;
  edit?: (path: string, edits: { old: string; new: string; all?: boolean }[]) => Call;
  multi?: boolean;
  insert?: (path: string, line: number, text: string) => Call;
  remove?: (path: string) => Call;
  patch?: (text: string) => Call;
}

const ROOT = "{root}";
const under = (path: string) => `${ROOT}/${path}`;
const patch =
  (name: string, key?: string) =>
  (text: string): Call => ({ name, input: key === undefined ? text : { [key]: text } });
const one = (edits: { old: string; new: string; all?: boolean }[]) => edits[0] ?? { old: "", new: "" };

/** The calls as each tool writes them. */
export const STYLES: Readonly<Record<string, Style>> = {
  "claude-code": {
    write: (path, content) => ({ name: "Write", input: { file_path: under(path), content } }),
    edit: (path, edits): Call => {
      const file_path = under(path);
      const { old, new: next, all } = one(edits);
      return edits.length === 1
        ? { name: "Edit", input: { file_path, old_string: old, new_string: next, replace_all: all === true } }
        : {
            name: "MultiEdit",
            input: { file_path, edits: edits.map((e) => ({ old_string: e.old, new_string: e.new })) },
          };
    },
    multi: true,
  },
  codex: { patch: patch("apply_patch") },
  "gemini-cli": {
    write: (path, content) => ({ name: "write_file", input: { file_path: under(path), content } }),
    edit: (path, edits) => ({
      name: "replace",
      input: {
        file_path: under(path),
        old_string: one(edits).old,
        new_string: one(edits).new,
        ...(one(edits).all ? { allow_multiple: true } : {}),
      },
    }),
  },
  opencode: {
    write: (path, content) => ({ name: "write", input: { filePath: under(path), content } }),
    edit: (path, edits) => ({
      name: "edit",
      input: {
        filePath: under(path),
        oldString: one(edits).old,
        newString: one(edits).new,
        ...(one(edits).all ? { replaceAll: true } : {}),
      },
    }),
    patch: patch("apply_patch", "patchText"),
  },
  copilot: {
    write: (path, text) => ({ name: "create", input: { path: under(path), file_text: text } }),
    edit: (path, edits) => ({
      name: "edit",
      input: { path: under(path), old_str: one(edits).old, new_str: one(edits).new },
    }),
    insert: (path, at, text) => ({
      name: "str_replace_editor",
      input: { command: "insert", path: under(path), insert_line: at, new_str: text },
    }),
    patch: patch("apply_patch", "input"),
  },
  cursor: {
    write: (path, contents) => ({ name: "write", input: { file_path: path, contents } }),
    edit: (path, edits) => ({
      name: "search_replace",
      input: {
        file_path: path,
        old_string: one(edits).old,
        new_string: one(edits).new,
        ...(one(edits).all ? { replace_all: true } : {}),
      },
    }),
    remove: (path) => ({ name: "delete_file", input: { target_file: path } }),
  },
};

export function scenario(tool: string, seed: number): Scenario {
  const random = createRandom(seed);
  const style = STYLES[tool] as Style;
  const before: Files = new Map();
  for (const name of NAMES) if (random(4) > 0) before.set(name, content(random));
  const after: Files = new Map(before);
  const calls: Call[] = [];
  for (let i = 0; i < 12; i++) {
    const made = act(random, style, after);
    if (made) calls.push(made);
  }
  return { tool, before, calls, after };
}

function act(random: Random, style: Style, files: Files): Call | undefined {
  const kinds = (["write", "edit", "insert", "remove", "patch"] as const).filter((kind) => style[kind] !== undefined);
  const kind = pick(random, kinds);
  const known = [...files.keys()];
  if (kind === "write") {
    const path =
      random(3) === 0
        ? `new/${word(random)}.txt`.replaceAll("`", "").replaceAll("\t", "").replaceAll("\\n", "")
        : pick(random, NAMES);
    if (path.includes("</") || path.includes("%") || blocked(path, files)) return undefined;
    const text = random(5) === 0 ? "" : lines(random, 6).join(pick(random, ["\n", "\r\n"])) + pick(random, ["", "\n"]);
    files.set(path, Buffer.from(text));
    return style.write?.(path, text);
  }
  const path = known.length > 0 ? pick(random, known) : undefined;
  if (path === undefined) return undefined;
  const data = files.get(path) as Buffer;
  if (kind === "remove") {
    files.delete(path);
    return style.remove?.(path);
  }
  if (kind === "edit") return edit(random, style, files, path, data);
  if (kind === "insert") return insert(random, style, files, path, data);
  return patched(random, style, files, path, data);
}

const blocked = (path: string, files: Files) =>
  [...files.keys()].some((known) => known.startsWith(`${path}/`) || path.startsWith(`${known}/`));

function edit(random: Random, style: Style, files: Files, path: string, data: Buffer): Call | undefined {
  const wide = isWide(data);
  const encode = (text: string) => Buffer.from(text, wide ? "utf16le" : "utf8");
  if (data.length === 0) {
    const text = line(random);
    files.set(path, Buffer.from(text));
    return style.edit?.(path, [{ old: "", new: text }]);
  }
  const count = style.multi && random(2) === 0 ? 2 : 1;
  let now = data;
  const edits: { old: string; new: string; all?: boolean }[] = [];
  for (let i = 0; i < count; i++) {
    const text = now.toString(wide ? "utf16le" : "utf8");
    const words = text.match(/[0-9a-z]{1,6}_/g) ?? [];
    if (words.length === 0) return undefined;
    const crlf = isCrlf(text.replace(/^\ufeff/, ""));
    const rows = text.replace(/^\ufeff/, "").split(crlf ? "\r\n" : "\n");
    const old =
      random(3) === 0 && rows.length > 2 && !/[\ufffd\0]/.test(text)
        ? rows.slice(0, 2).join("\n")
        : pick(random, words);
    const next = random(4) === 0 ? "" : lines(random, 2).join("\n");
    const [oldBytes, nextBytes] = crlf
      ? [encode(old.replaceAll("\n", "\r\n")), encode(next.replaceAll("\n", "\r\n"))]
      : [encode(old), encode(next)];
    const from = now.indexOf(oldBytes);
    if (old === "" || from < 0 || now.indexOf(oldBytes, from + 1) >= 0) return undefined;
    now = splice(now, oldBytes, nextBytes);
    edits.push({ old, new: next });
  }
  files.set(path, now);
  return style.edit?.(path, edits);
}

function insert(random: Random, style: Style, files: Files, path: string, data: Buffer): Call | undefined {
  const text = data.toString("utf8");
  if (isWide(data) || text.includes("\r") || !Buffer.from(text).equals(data) || !text.endsWith("\n")) return undefined;
  const rows = text.split("\n").slice(0, -1);
  const at = random(rows.length + 1);
  const added = lines(random, 2);
  files.set(path, Buffer.from([...rows.slice(0, at), ...added, ...rows.slice(at)].map((row) => `${row}\n`).join("")));
  return style.insert?.(path, at, added.join("\n"));
}

function patched(random: Random, style: Style, files: Files, path: string, data: Buffer): Call | undefined {
  const wrap = (rows: string[]) => style.patch?.(["*** Begin Patch", ...rows, "*** End Patch"].join("\n"));
  const name = under(path);
  const deed = random(5);
  if (deed === 0) {
    files.delete(path);
    return wrap([`*** Delete File: ${name}`]);
  }
  if (deed === 1) {
    const fresh = `made/${(unique++).toString(36)} é.txt`;
    const rows = lines(random, 4);
    files.set(fresh, Buffer.from(rows.map((row) => `${row}\n`).join("")));
    return wrap([`*** Add File: ${under(fresh)}`, ...rows.map((row) => `+${row}`)]);
  }
  const text = data.toString("utf8");
  if (
    isWide(data) ||
    text.includes("\r") ||
    text.startsWith("\ufeff") ||
    !Buffer.from(text).equals(data) ||
    text === ""
  )
    return undefined;
  const rows = text.split("\n");
  if (rows.at(-1) === "") rows.pop();
  const at = random(rows.length);
  const gone = Math.min(rows.length - at, 1 + random(2));
  const added = lines(random, 2);
  const head = Math.max(0, at - 2);
  const tail = Math.min(rows.length, at + gone + 2);
  const hunk = [
    ...rows.slice(head, at).map((row) => ` ${row}`),
    ...rows.slice(at, at + gone).map((row) => `-${row}`),
    ...added.map((row) => `+${row}`),
    ...rows.slice(at + gone, tail).map((row) => ` ${row}`),
  ];
  const changed = Buffer.from(
    [...rows.slice(0, at), ...added, ...rows.slice(at + gone)].map((row) => `${row}\n`).join(""),
  );
  if (deed === 2) {
    const to = `moved/${(unique++).toString(36)}.txt`;
    files.delete(path);
    files.set(to, changed);
    return wrap([`*** Update File: ${name}`, `*** Move to: ${under(to)}`, "@@", ...hunk]);
  }
  files.set(path, changed);
  return wrap([`*** Update File: ${name}`, "@@", ...hunk]);
}
