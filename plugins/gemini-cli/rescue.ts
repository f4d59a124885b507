/** How Gemini CLI finds its chats, and what it needs to have one back: the chat, its project's marker and the entry of `projects.json`. */
import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type AdapterCapabilities, isRecord, toRecord, toText } from "sessarc";
import { type AdapterEnv, readRows } from "sessarc/adapter";
import { isGone, readRegular } from "sessarc/files";
import { createFold } from "./fold.ts";
import type { Heads } from "./heads.ts";

type RescueContract = AdapterCapabilities["rescue"];
type IndexEntry = Awaited<ReturnType<NonNullable<RescueContract["index"]>>>[number];

const HASH = /^[0-9a-f]{64}$/;

export const rescue = (toolDir: (env: AdapterEnv) => string, heads: Heads): RescueContract => ({
  folders: (env) => [join(toolDir(env), "tmp"), toolDir(env)],
  index: async ({ path, cwd }, env) => (cwd === null ? [] : readEntries(toolDir(env), projectFolder(path), cwd)),
  /** A resume leaves an empty second log of the same session: the next start would delete the chat and keep that one. */
  async inTheWay({ key, path }) {
    const folder = dirname(path);
    const names = await readdir(folder).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    });
    const found: string[] = [];
    for (const name of names) {
      const other = join(folder, name);
      if (other === path || !/^session-.*\.jsonl$/.test(name)) continue;
      const info = await stat(other);
      const head = info.isFile() ? await heads.of({ path: other, ...toStat(info) }) : undefined;
      if (head?.silent && head.sessionId === key.split(".")[0]) found.push(other);
    }
    return found;
  },
  async copy({ key, path }, { key: to, cwd }, env) {
    const home = toolDir(env);
    const folder = join(home, "tmp", await readSlug(home, cwd));
    const [, start = "session-2026-01-01T00-00"] = /^(session-\d{4}-\d\d-\d\dT\d\d-\d\d)/.exec(basename(path)) ?? [];
    return {
      path: join(folder, "chats", `${start}-${to.slice(0, 8)}.jsonl`),
      row: (row) => {
        // A session that was ever resumed says its id and project again, in a change of the head.
        const head = (fields: Readonly<Record<string, unknown>>) => ({
          ...fields,
          ...(typeof fields.sessionId === "string" && { sessionId: to, sessarc: fields.sessarc ?? { copyOf: key } }),
          ...(typeof fields.projectHash === "string" && { projectHash: toHash(cwd) }),
        });
        return isRecord(row.$set) ? { ...row, $set: head(row.$set) } : head(row);
      },
      index: await readEntries(home, folder, cwd),
    };
  },
  /** It reads a chat to its end and takes the id that was said last; the folder's name is in its list of projects. */
  async finds({ key, path, cwd }, env) {
    const fold = createFold();
    await readRows(path, (row) => fold.row(row));
    const home = toolDir(env);
    const folder = projectFolder(path);
    const own = HASH.test(basename(folder)) || (await readSlug(home, cwd)) === basename(folder);
    return own && fold.result().meta.sessionId === key;
  },
  start: (prompt) => ["gemini", "--prompt-interactive", prompt],
  retention: (days, env) => ({
    path: join(toolDir(env), "settings.json"),
    keys: ["general", "sessionRetention"],
    key: "maxAge",
    value: `${days}d`,
  }),
});

/** The folder above `chats`. */
function projectFolder(path: string): string {
  let folder = dirname(path);
  while (basename(folder) !== "chats" && dirname(folder) !== folder) folder = dirname(folder);
  return dirname(folder);
}

/** A folder named by the hash of its path needs no entry. */
async function readEntries(home: string, folder: string, cwd: string): Promise<IndexEntry[]> {
  const slug = basename(folder);
  if (HASH.test(slug)) return [];
  return [
    { kind: "file", path: join(folder, ".project_root"), text: cwd },
    { kind: "value", path: join(home, "projects.json"), keys: ["projects"], key: cwd, value: slug },
  ];
}

/** The folder's name for a path: the one it has, else one that is free. */
async function readSlug(home: string, cwd: string): Promise<string> {
  const text = await readRegular(join(home, "projects.json")).catch(() => "{}");
  let known: Readonly<Record<string, unknown>> = {};
  try {
    known = toRecord(toRecord(JSON.parse(text)).projects);
  } catch {
    // The plan reports a file that cannot be read when it comes to the entry.
  }
  const own = toText(known[cwd]);
  if (own !== undefined && /^[\w.-]{1,100}$/.test(own) && !own.startsWith(".")) return own;
  const taken = new Set(Object.values(known));
  const name =
    basename(cwd)
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "") || "project";
  for (let n = 0; ; n++) {
    const slug = n === 0 ? name : `${name}-${n}`;
    if (!taken.has(slug)) return slug;
  }
}

const toHash = (path: string) => createHash("sha256").update(path).digest("hex");
const toStat = ({ size, mtimeMs, birthtimeMs }: { size: number; mtimeMs: number; birthtimeMs: number }) => ({
  size,
  mtimeMs,
  birthtimeMs,
});
