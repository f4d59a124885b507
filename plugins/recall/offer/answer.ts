/** The cached answer of a project: everything that hooks may offer in it, 40 KB at most. */
import { isAbsolute, relative, resolve } from "node:path";
import { isInside } from "sessarc/files";
import * as v from "valibot";

const line = v.object({
  text: v.string(),
  session: v.string(),
  seq: v.nullable(v.number()),
  names: v.array(v.string()),
});
const keyed = v.array(v.tuple([v.string(), line]));

export const answerSchema = v.object({
  /** Folders that sessions of the project worked in; the project's own first. */
  folders: v.array(v.string()),
  /** Three at most. */
  start: v.array(line),
  /** By normalized command, newest first. */
  commands: keyed,
  /** By path below one of the folders, newest first. */
  files: keyed,
});
export type ProjectAnswer = v.InferOutput<typeof answerSchema>;

const MOST_BYTES = 40 * 1024;

/** The answer's JSON; its oldest lines are left out where it is too large. */
export function toJson(answer: ProjectAnswer): string {
  const sizes = (lines: ProjectAnswer["files"]) => lines.map((one) => Buffer.byteLength(JSON.stringify(one)) + 1);
  const rest = JSON.stringify({ ...answer, commands: [], files: [] });
  let left = MOST_BYTES - Buffer.byteLength(rest);
  const [commands, files] = [sizes(answer.commands), sizes(answer.files)];
  const taken = { commands: 0, files: 0 };
  for (let i = 0; i < Math.max(commands.length, files.length); i++) {
    for (const [kind, all] of [
      ["commands", commands],
      ["files", files],
    ] as const) {
      const size = all[i];
      if (size === undefined || size > left || taken[kind] < i) continue;
      left -= size;
      taken[kind] = i + 1;
    }
  }
  return JSON.stringify({
    ...answer,
    commands: answer.commands.slice(0, taken.commands),
    files: answer.files.slice(0, taken.files),
  });
}

/** The key of a path: what it is below the folder that holds it, with `/`. A relative one is below `cwd`. Undefined outside of them. */
export function toKey(path: string, folders: readonly string[], cwd: string | null): string | undefined {
  const full = isAbsolute(path) ? path : cwd === null ? undefined : resolve(cwd, path);
  if (full === undefined) return undefined;
  const folder = folders.filter((one) => isInside(one, full)).sort((a, b) => b.length - a.length)[0];
  return folder === undefined ? undefined : relative(folder, full).replaceAll("\\", "/");
}
