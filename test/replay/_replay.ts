/** Sessions that exist only to be gone through again: a log of plain rows, with a real tool's names and arguments. */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, Plugin, SessionEvent } from "sessarc";
import { type Adapter, type AdapterPlugin, defineAdapter } from "sessarc/adapter";
import { afterAll, beforeAll } from "vitest";
import archive from "../../plugins/archive/index.ts";
import git from "../../plugins/git/index.ts";
import replay, { type ReplayOptions } from "../../plugins/replay/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

/** A tool whose log holds our own rows; its calls are read as `real` says. */
export function toEcho(name: string, real: Pick<Adapter, "tools" | "replay"> = {}): AdapterPlugin {
  const adapter = defineAdapter(() => ({
    name,
    label: name,
    roots: ({ home }) => [join(home, ".logs", name)],
    async *scan(root) {
      for (const file of await readdir(root).catch(() => [])) {
        const path = join(root, file);
        const { size, mtimeMs } = await stat(path);
        yield { key: file.replace(/\.jsonl$/, ""), path, size, mtime: mtimeMs, exclusive: true };
      }
    },
    parse: () => {
      const summary: { cwd?: string; parent?: string; startedAt?: string; endedAt?: string } = {};
      return {
        row(row) {
          const { head, event } = row as { head?: typeof summary; event?: SessionEvent };
          Object.assign(summary, head);
          return event;
        },
        finish: () => ({ usage: {}, ...summary }),
      };
    },
    ...(real.tools ? { tools: real.tools } : {}),
    ...(real.replay ? { replay: real.replay } : {}),
  }));
  return adapter();
}

export interface LoggedCall {
  name: string;
  input: Json;
  /** Default: it worked, and said nothing. */
  result?: { text: string; failed?: boolean } | null;
}

export interface LoggedSession {
  cwd: string;
  startedAt: string;
  parent?: string;
  /** As the log names it: of some assistants the last one of the session. */
  branch?: string;
  calls: readonly LoggedCall[];
}

export async function writeSession(home: string, tool: string, key: string, session: LoggedSession): Promise<string> {
  const start = Date.parse(session.startedAt);
  const toTime = (i: number) => new Date(start + i * 1000).toISOString();
  const events: Omit<SessionEvent, "seq">[] = [{ kind: "user", text: "Go on", at: toTime(0) }];
  for (const [i, { name, input, result }] of session.calls.entries()) {
    const id = `call-${i}`;
    events.push({
      kind: "tool_use",
      text: name,
      tool_name: name,
      tool_input: input,
      tool_use_id: id,
      at: toTime(i + 1),
    });
    if (result === null) continue;
    const { text, failed } = result ?? { text: "" };
    events.push({
      kind: "tool_result",
      text,
      tool_use_id: id,
      at: toTime(i + 1),
      ...(failed ? { is_error: true } : {}),
    });
  }
  const { cwd, parent, branch } = session;
  const head = {
    cwd,
    startedAt: toTime(0),
    endedAt: toTime(session.calls.length + 1),
    ...(parent ? { parent } : {}),
    ...(branch ? { gitBranch: branch } : {}),
  };
  const rows = [{ head }, ...events.map((event) => ({ event }))];
  await mkdir(join(home, ".logs", tool), { recursive: true });
  await writeFile(join(home, ".logs", tool, `${key}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return `${tool}:${key}`;
}

export interface CommittedTree {
  /** ISO 8601. */
  at: string;
  files: ReadonlyMap<string, Buffer | { mode: string; data: Buffer | string }>;
}

/** A repository whose commits each hold exactly these files; written by git itself, in one process. */
export async function writeCommits(path: string, commits: readonly CommittedTree[]): Promise<void> {
  await mkdir(path, { recursive: true });
  await runGit(path, ["init", "-q", "-b", "main", "--template="]);
  const parts: Buffer[] = [];
  const say = (text: string) => parts.push(Buffer.from(text));
  for (const { at, files } of commits) {
    const who = `Ada <ada@example.com> ${Math.floor(Date.parse(at) / 1000)} +0000`;
    say(`commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata 4\nwork\ndeleteall\n`);
    for (const [name, file] of files) {
      const { mode, data } = Buffer.isBuffer(file) ? { mode: "100644", data: file } : file;
      const quoted = `"${name.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
      if (mode === "160000") say(`M 160000 ${data} ${quoted}\n`);
      else {
        const bytes = Buffer.from(data as Buffer);
        say(`M ${mode} inline ${quoted}\ndata ${bytes.length}\n`);
        parts.push(bytes);
        say("\n");
      }
    }
    say("\n");
  }
  await runGit(path, ["fast-import", "--quiet"], Buffer.concat(parts));
  await runGit(path, ["reset", "-q", "--hard"]);
}

export function runGit(cwd: string, args: readonly string[], input?: Buffer): Promise<string> {
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  return new Promise((resolve, reject) => {
    const child = spawn("git", [...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
    });
    child.on("error", reject);
    child.on("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`git ${args[0]}: ${said}`))));
    child.stdin.end(input);
  });
}

/** All files below a folder, by path. */
export async function filesBelow(folder: string): Promise<Map<string, Buffer>> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return new Map(
    await Promise.all(files.sort().map(async (file) => [file.slice(folder.length + 1), await readFile(file)] as const)),
  );
}

export async function replayKernel(
  plugins: readonly Plugin[],
  options?: ReplayOptions,
  home?: string,
  env?: Readonly<Record<string, string>>,
): Promise<TestKernel> {
  const all = [...plugins, archive(), git(), replay(options)];
  return createTestKernel({ plugins: all, ...(home === undefined ? {} : { home }), ...(env ? { env } : {}) });
}

/** For the tests of this block bubblewrap is not found; `git` is, in a folder of its own. */
export function withoutIsolation(): void {
  const path = process.env.PATH ?? "";
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sessarc-path-"));
    const git = path
      .split(":")
      .map((one) => join(one, "git"))
      .find((file) => existsSync(file));
    if (git === undefined) throw new Error("git is not installed");
    await symlink(git, join(folder, "git"));
    process.env.PATH = folder;
  });
  afterAll(async () => {
    process.env.PATH = path;
    await rm(folder, { recursive: true, force: true });
  });
}
