/** Unified diffs, in and out. */

import { toCoding } from "../sandbox/encoding.ts";

export interface FileChange {
  path: string;
  /** Null: not there. */
  before: Buffer | null;
  after: Buffer | null;
  /** Permission bits for what is made; undefined keeps those that are. */
  mode?: number;
}

/** A string says what does not apply. Places must fit to the letter; line numbers may be off. */
export async function applyUnified(
  text: string,
  read: (path: string) => Promise<Buffer | null>,
): Promise<{ path: string; data: Buffer | null }[] | string> {
  const { applyPatch, parsePatch } = await import("diff");
  const findName = (name: string | undefined) => name?.replace(/^[ab]\//, "").trim();
  const done: { path: string; data: Buffer | null }[] = [];
  let files: ReturnType<typeof parsePatch>;
  try {
    files = parsePatch(Buffer.from(text, "utf8").toString("latin1"));
  } catch {
    return "the patch cannot be read";
  }
  for (const file of files) {
    const from = file.oldFileName === "/dev/null" ? undefined : findName(file.oldFileName);
    const to = file.newFileName === "/dev/null" ? undefined : findName(file.newFileName);
    const path = from ?? to;
    if (path === undefined) return "the patch names no file";
    const before = await read(utf8(path));
    if (from !== undefined && before === null) return `${utf8(path)}: the file is not there`;
    if (to === undefined) {
      done.push({ path: utf8(path), data: null });
      continue;
    }
    const coding = toCoding(before ?? Buffer.alloc(0));
    const result = applyPatch(before === null ? "" : coding.decode(before), file, { autoConvertLineEndings: true });
    if (result === false) return `${utf8(path)}: the patch does not fit the file`;
    if (to !== path) {
      await read(utf8(to));
      done.push({ path: utf8(path), data: null });
    }
    done.push({ path: utf8(to), data: coding.encode(result) });
  }
  return done.length > 0 ? done : "the patch changes nothing";
}

const utf8 = (text: string) => Buffer.from(text, "latin1").toString("utf8");

/** Larger contents are compared by their size alone. */
const TEXT_LIMIT = 2 * 1024 * 1024;
/** Time for the comparison of one file; past it all of the file is shown as replaced. */
const TIME_MS = 30;

/** A unified diff of the changes, as git writes one. */
export async function toUnified(changes: readonly FileChange[]): Promise<string> {
  const { createTwoFilesPatch, FILE_HEADERS_ONLY } = await import("diff");
  const parts: string[] = [];
  for (const { path, before, after } of changes) {
    const [from, to] = [before === null ? "/dev/null" : `a/${path}`, after === null ? "/dev/null" : `b/${path}`];
    const [old, next] = [findText(before), findText(after)];
    if (old === undefined || next === undefined) {
      parts.push(`Binary files ${from} and ${to} differ\n`);
      continue;
    }
    const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
    const patch = createTwoFilesPatch(from, to, old, next, undefined, undefined, { ...options, timeout: TIME_MS });
    parts.push(patch ?? `--- ${from}\n+++ ${to}\n${wholly(old, next)}`);
  }
  return parts.join("");
}

/** Undefined for binary and very large contents. */
export function findText(data: Buffer | null): string | undefined {
  if (data === null) return "";
  if (data.length > TEXT_LIMIT) return undefined;
  const coding = toCoding(data);
  const text = coding.decode(data);
  // Two chars a byte mark: UTF-16 is text as it is, bytes are when they hold no NUL.
  if (coding.of("é") === "é") return text.slice(1);
  return data.includes(0) ? undefined : data.toString("utf8");
}

function wholly(old: string, next: string): string {
  const [gone, come] = [old.split("\n"), next.split("\n")];
  const rows = [...gone.map((line) => `-${line}\n`), ...come.map((line) => `+${line}\n`)];
  return `@@ -1,${gone.length} +1,${come.length} @@\n${rows.join("")}`;
}
