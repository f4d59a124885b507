/** Puts sessions back, and takes back what was put back. */
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { createQueue, isSessarcError, type Kernel, SessarcError } from "sessarc";
import { codeOf, exec, exists } from "sessarc/files";
import type { Keeper } from "../keep/keeper.ts";
import { checkPlace } from "./place.ts";
import { type OpenPlan, planRescue, type RescuePlan } from "./plan.ts";
import {
  addUp,
  moveTo,
  nothingWritten,
  removeFolders,
  removeValue,
  removeWritten,
  setValue,
  type Written,
  writeNew,
} from "./write.ts";

export interface Rescued extends RescuePlan {
  /** Files that were written; those that were there already are not among them. */
  written: string[];
}

export interface Undone {
  session: string;
  removed: string[];
  /** Files that changed since: the assistant went on with the session, so they stay. */
  left: string[];
}

/** An assistant's own command takes seconds to start. */
const COMMAND_MS = 120_000;

export interface Restorer {
  plan(id: string, cwd?: string): Promise<RescuePlan>;
  /** Throws RESCUE_IMPOSSIBLE, RESCUE_OUTSIDE; a second call changes nothing. */
  restore(id: string, cwd?: string): Promise<Rescued>;
  /** Removes exactly what `restore` wrote for the session. Throws RESCUE_NOTHING. */
  undo(id: string): Promise<Undone>;
}

export function createRestorer(kernel: Kernel, keeper: Keeper): Restorer {
  const { db } = kernel.storage;
  /** One at a time: two rescues of one session would both find its place free. */
  const inTurn = createQueue();
  const note = (row: number, written: Written) =>
    db.run("update rescue_written set written = ? where id = ?", [JSON.stringify(written), row]);
  const forget = (row: number) => db.run("delete from rescue_written where id = ?", [row]);

  async function begin(id: string, written: Written): Promise<number> {
    const next = (await db.get<{ id: number }>("select coalesce(max(id), 0) + 1 as id from rescue_written"))?.id ?? 1;
    await db.run("insert into rescue_written (id, session, written, at) values (?, ?, ?, ?)", [
      next,
      id,
      JSON.stringify(written),
      new Date().toISOString(),
    ]);
    return next;
  }

  /** The archive reads what was put back: nothing is counted twice, since it is the same session. */
  async function readAgain(logs: readonly string[]): Promise<void> {
    const wanted = new Set(logs);
    const read: string[] = [];
    // Without an earlier listing, all logs are offered.
    const choose = <T extends { id: string; ref: { path: string } }>(found: readonly T[]) => {
      const own = found.filter(({ ref }) => wanted.has(ref.path));
      read.push(...own.map(({ id }) => id));
      return own;
    };
    await kernel.inject("importer").runPaths(logs, choose);
    await keeper.run(read);
  }

  /** `row`: of what was written, for an undo; none where there was nothing to do. */
  async function write(plan: OpenPlan): Promise<{ row?: number; done: Written }> {
    const files = plan.files.filter(({ there }) => !there);
    const intended: Written = {
      ...nothingWritten(),
      files: files.map(({ path, bytes }) => ({ path, sum: addUp(bytes) })),
      moved: plan.moves,
      values: plan.values.filter(({ there }) => !there).map(({ there: _, ...value }) => value),
      imported: plan.load ? [{ tool: plan.load.tool, key: plan.load.key }] : [],
    };
    const done = nothingWritten();
    if (files.length + plan.moves.length + intended.values.length === 0 && !plan.load) return { done };
    // First the intention: what a kill leaves half done can be undone, too.
    const row = await begin(plan.session, intended);
    try {
      for (const move of plan.moves) if (await moveTo(move.path, move.to)) done.moved.push(move);
      for (const { path, bytes, mode } of files) {
        // Checked again: the plan may be older than a link that was put there.
        await checkPlace(path, plan.folders);
        const { written, first } = await writeNew(path, bytes, mode);
        if (first) done.folders.push({ path, first });
        if (written) done.files.push({ path, sum: addUp(bytes) });
      }
      for (const value of intended.values) if (await setValue(value)) done.values.push(value);
      if (plan.load) done.imported.push(await load(kernel, plan.load));
    } finally {
      // After a failure there may be nothing to undo.
      if (Object.values(done).every((list) => list.length === 0)) await forget(row);
      else await note(row, done);
    }
    return { row, done };
  }

  /** Removes what one rescue wrote; answers the paths that it was about. */
  async function takeBack(row: number, written: Written, undone: Undone): Promise<string[]> {
    const paths: string[] = [];
    for (const { tool, key } of written.imported) await unload(kernel, tool, key);
    for (const file of written.files) {
      const outcome = await removeWritten(file);
      if (outcome === "removed") undone.removed.push(file.path);
      if (outcome === "changed") undone.left.push(file.path);
      paths.push(file.path);
    }
    // An index entry of a session that went on is still needed.
    if (undone.left.length === 0) for (const value of written.values) await removeValue(value);
    await removeFolders(written.folders);
    for (const { path, to } of written.moved) if (await moveTo(to, path)) paths.push(path);
    await forget(row);
    return paths;
  }

  return {
    plan: async (id, cwd) => toPlan(await planRescue(kernel, keeper, id, cwd)),
    restore: (id, cwd) =>
      inTurn(async () => {
        const plan = await planRescue(kernel, keeper, id, cwd);
        if (plan.reason !== null) throw new SessarcError("RESCUE_IMPOSSIBLE", { id, reason: plan.reason });
        const { row, done } = await write(plan);
        const isFound = await plan.check().catch(() => false);
        if (!isFound) {
          if (row !== undefined) await takeBack(row, done, { session: id, removed: [], left: [] });
          const reason = `${plan.label} would not find the copy at ${plan.logs[0]} by its id`;
          throw new SessarcError("RESCUE_IMPOSSIBLE", { id, reason });
        }
        await readAgain(plan.logs);
        return { ...toPlan(plan), written: done.files.map(({ path }) => path) };
      }),
    undo: (id) =>
      inTurn(async () => {
        const rows = await db.all<{ id: number; written: string }>(
          "select id, written from rescue_written where session = ? order by id desc",
          [id],
        );
        if (rows.length === 0) throw new SessarcError("RESCUE_NOTHING", { id });
        const undone: Undone = { session: id, removed: [], left: [] };
        const paths: string[] = [];
        for (const { id: row, written: text } of rows) {
          paths.push(...(await takeBack(row, JSON.parse(text) as Written, undone)));
        }
        const source = await db.get<{ path: string }>("select source_path as path from session where id = ?", [id]);
        await readAgain(source ? [...paths, source.path] : paths);
        // A database is still there: that a session is no longer in it shows when all logs are listed.
        const isRows = rows.some(({ written }) => (JSON.parse(written) as Written).imported.length > 0);
        if (isRows) await kernel.inject("importer").run(() => [], new Set());
        return undone;
      }),
  };
}

/** Has the assistant import a session's rows. */
async function load(kernel: Kernel, { tool, key, cwd, bytes }: NonNullable<OpenPlan["load"]>) {
  const file = kernel.storage.path("rescue", `${key.replace(/[^\w-]/g, "-").slice(0, 100)}.json`);
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, bytes, { mode: 0o600 });
  try {
    await run(kernel, tool, cwd, (commands) => commands.load(file));
  } catch (error) {
    // The error names this file to the user.
    if (!isSessarcError(error) || error.code !== "RESCUE_COMMAND_MISSING") await rm(file, { force: true });
    throw error;
  }
  await rm(file, { force: true });
  return { tool, key };
}

const unload = (kernel: Kernel, tool: string, key: string) =>
  run(kernel, tool, null, (commands) => commands.remove(key));

type Commands = NonNullable<NonNullable<ReturnType<typeof findContract>>["commands"]>;
const findContract = (kernel: Kernel, tool: string) => kernel.registry.adapters.get(tool)?.rescue;

async function run(
  kernel: Kernel,
  tool: string,
  cwd: string | null,
  words: (commands: Commands) => readonly string[],
): Promise<void> {
  const commands = findContract(kernel, tool)?.commands;
  const [file, ...args] = commands ? words(commands) : [];
  if (file === undefined)
    throw new SessarcError("RESCUE_IMPOSSIBLE", { id: tool, reason: "its assistant has no command for it" });
  const { code, stderr, stdout, timedOut } = await exec(file, args, {
    // An assistant assigns what it imports to the project of the folder it runs in.
    cwd: cwd !== null && (await exists(cwd)) ? cwd : kernel.env.home,
    env: kernel.env.env,
    timeoutMs: COMMAND_MS,
  }).catch((cause: unknown) => {
    // The folder is there: what is missing is the program.
    if (!isSessarcError(cause) || codeOf(cause.cause) !== "ENOENT") throw cause;
    throw new SessarcError("RESCUE_COMMAND_MISSING", { program: file, command: [file, ...args].join(" ") }, { cause });
  });
  if (code === 0) return;
  const said = (stderr.toString("utf8").trim() || stdout.toString("utf8").trim()).split("\n").at(-1) ?? "";
  const reason = timedOut ? "it took longer than two minutes" : said.slice(0, 300) || `it ended with ${code}`;
  throw new SessarcError("COMMAND_FAILED", { command: [file, args[0] ?? ""].join(" "), reason });
}

const toPlan = ({ session, tool, label, title, reason, steps, lost, copy }: OpenPlan): RescuePlan => ({
  session,
  tool,
  label,
  title,
  reason,
  steps,
  lost,
  copy,
});
