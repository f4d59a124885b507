/** `sessarc start`, `stop`, `restart`, `status`, `logs`: the service without a terminal. */
import { open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import {
  awaitRunning,
  findRunning,
  isOlder,
  type Running,
  startInBackground,
  stopRunning,
} from "../background/control.ts";
import { LOG_FILE } from "../background/log-file.ts";
import { type LoginPlan, planLogin, readLogin, removeLogin, writeLogin } from "../background/login.ts";
import { readState } from "../background/state.ts";
import { findConfig } from "../config/find.ts";
import type { StatusReport } from "../contract/reports.ts";
import { readLock } from "../storage/lock.ts";
import { hasArchive } from "../storage/present.ts";
import { ApiError, UsageError } from "../terminal/errors.ts";
import { formatBytes, formatCount, formatDuration, formatMoment } from "../terminal/format.ts";
import { wrapColumns } from "../terminal/style.ts";
import { ifThere } from "../utils/gone.ts";
import { isRecord } from "../utils/json.ts";
import { defaultConfigDir } from "../utils/path.ts";
import { VERSION } from "../utils/version.ts";
import { numberFlag } from "./args.ts";
import type { CoreContext } from "./context.ts";
import { EXIT } from "./failure.ts";

/** The flags of `serve`, and the configuration that this command found: the service begins in another folder. */
export async function serveArgs(ctx: CoreContext): Promise<string[]> {
  const { flags } = ctx;
  const here = (path: string) => (/^\.\.?[\\/]/.test(path) ? resolve(ctx.cwd, path) : path);
  const file =
    typeof flags.config === "string"
      ? resolve(ctx.cwd, flags.config)
      : await findConfig([ctx.cwd, defaultConfigDir(ctx.env)]);
  const plugins = Array.isArray(flags.plugin) ? flags.plugin.flatMap((one) => ["--plugin", here(String(one))]) : [];
  return [
    ...(typeof flags.port === "string" ? ["--port", flags.port] : []),
    ...(typeof flags.host === "string" ? ["--host", flags.host] : []),
    ...(flags.auth === true ? ["--auth"] : []),
    ...(file === undefined ? [] : ["--config", file]),
    ...plugins,
  ];
}

export async function start(ctx: CoreContext): Promise<number> {
  const { dataDir } = ctx.config;
  const args = await serveArgs(ctx);
  if (ctx.flags["dry-run"] === true && ctx.flags["at-login"] !== true)
    throw new UsageError("--dry-run shows what --at-login would write");
  let plan: LoginPlan | undefined;
  if (ctx.flags["at-login"] === true) {
    plan = await planLogin(dataDir, args, ctx.env);
    if (ctx.flags["dry-run"] === true) {
      if (ctx.json) ctx.answer(plan);
      else printPlan(ctx, plan);
      return EXIT.ok;
    }
    await writeLogin(dataDir, plan, ctx.env);
    ctx.err(`Starts at login: ${plan.path}`);
  }
  const there = await findRunning(dataDir);
  if (there && !isOlder(there)) return report(ctx, there, "already runs");
  // An older one, or one that waits to be started again.
  await stopRunning(dataDir);
  return report(ctx, await begin(ctx, args, plan), "runs");
}

/** By the system's own manager where it has one, so that it knows of the service from now on. */
async function begin(ctx: CoreContext, args: readonly string[], plan: LoginPlan | undefined): Promise<Running> {
  const { dataDir } = ctx.config;
  if (plan?.kind !== "systemd") return startInBackground(dataDir, args, ctx.env);
  const { exec } = await import("../utils/exec.ts");
  const unit = plan.path.slice(plan.path.lastIndexOf("/") + 1);
  const { code } = await exec("systemctl", ["--user", "restart", unit], { env: ctx.env.env });
  return code === 0 ? awaitRunning(dataDir) : startInBackground(dataDir, args, ctx.env);
}

function printPlan(ctx: CoreContext, { path, text, commands }: LoginPlan): void {
  ctx.out(`writes ${path}:`);
  ctx.out(text.trimEnd().replace(/^/gm, "  "));
  for (const words of commands) ctx.out(`runs ${words.join(" ")}`);
}

function report(ctx: CoreContext, { lock, state }: Running, how: string): number {
  if (ctx.json)
    ctx.answer({ url: lock.url, pid: lock.pid, version: lock.version ?? null, background: state !== undefined });
  else ctx.out(`sessarc ${how} at ${lock.url} (pid ${lock.pid})`);
  return EXIT.ok;
}

export async function stop(ctx: CoreContext): Promise<number> {
  const { dataDir } = ctx.config;
  const removed = ctx.flags["at-login"] === true && (await removeLogin(dataDir, ctx.env));
  const stopped = await stopRunning(dataDir);
  if (ctx.json) ctx.answer({ stopped, loginRemoved: removed });
  else {
    if (removed) ctx.out("No longer starts at login");
    ctx.out(stopped ? "Stopped" : "No service runs");
  }
  return EXIT.ok;
}

export async function restart(ctx: CoreContext): Promise<number> {
  const { dataDir } = ctx.config;
  const asked = await serveArgs(ctx);
  const before = await readState(dataDir);
  await stopRunning(dataDir);
  return report(
    ctx,
    await startInBackground(dataDir, asked.length > 0 ? asked : (before?.args ?? []), ctx.env),
    "runs",
  );
}

export async function status(ctx: CoreContext): Promise<number> {
  const { dataDir } = ctx.config;
  const [running, state, login] = [await findRunning(dataDir), await readState(dataDir), await readLogin(dataDir)];
  const live = running ? await ctx.get<StatusReport>("/status", {}, ctx.signal) : undefined;
  const storage = await findStorage(ctx, running !== undefined);
  if (ctx.json) {
    ctx.answer({
      running: running !== undefined,
      url: running?.lock.url ?? null,
      pid: running?.lock.pid ?? null,
      startedAt: running?.lock.startedAt ?? null,
      version: running?.lock.version ?? null,
      installed: VERSION,
      background: running?.state !== undefined,
      login: login ?? null,
      restarts: state?.restarts ?? [],
      ended: running ? null : (state?.ended ?? null),
      status: live ?? null,
      storage: storage ?? null,
    });
    return running ? EXIT.ok : EXIT.nothing;
  }
  const row = (name: string, text: string) => {
    const line = `${name.padEnd(10)}${text}`;
    for (const one of ctx.columns ? wrapColumns(line, ctx.columns, " ".repeat(10)) : [line]) ctx.out(one);
  };
  if (!running || !live) row("service", "does not run: sessarc start");
  else {
    row(
      "service",
      `${running.lock.url} since ${formatMoment(new Date(running.lock.startedAt))} (pid ${running.lock.pid})`,
    );
    row("version", versionText(running));
    row("sessions", sessionsText(live));
    const { memoryBytes, processorMs } = live.process;
    const share = live.uptimeMs > 0 ? `, ${((100 * processorMs) / live.uptimeMs).toFixed(1)} % of a processor` : "";
    row("uses", `${formatBytes(memoryBytes)} of memory, ${formatDuration(processorMs)}${share}`);
    for (const text of toNotices(live, "waiting")) row("waits", text);
    for (const text of toNotices(live, "limits")) row("limit", text);
    row("runs in", running.state ? "the background" : "a terminal, and ends with it: sessarc start");
  }
  if (storage) printStorage(storage, row);
  row("login", login ? `starts at login: ${login.path}` : "does not start at login: sessarc start --at-login");
  const last = running ? state?.restarts.at(-1) : (state?.ended ?? state?.restarts.at(-1));
  if (last)
    row(
      running ? "restarted" : "ended",
      // Who is killed does not say why.
      `${formatMoment(new Date(last.at))}, ${last.how}${last.how.startsWith("signal") ? "; it wrote last" : ""}: ${last.reason.split("\n").at(-1)}`,
    );
  return running ? EXIT.ok : EXIT.nothing;
}

/** As `GET /storage` answers it, as far as it is shown here. */
interface StorageFigures {
  free: number | null;
  bytes: number;
  catalogue: { bytes: number };
  transcripts: { bytes: number };
  logs: { stored: number; budget: number | null; isOver: boolean; leftOutDying: number } | null;
  derived: { bytes: number };
  files: { bytes: number };
  tools: { label: string; transcripts: number; logs: number }[];
  back: { catalogue: number; logs: number };
}

/** Undefined without an archive, while another command has it open, and where no plugin answers. */
async function findStorage(ctx: CoreContext, runs: boolean): Promise<StorageFigures | undefined> {
  const { dataDir } = ctx.config;
  if (!runs && (!hasArchive(dataDir) || (await readLock(dataDir)) !== undefined)) return undefined;
  return ctx.get<StorageFigures>("/storage", {}, ctx.signal).catch((error: unknown) => {
    // An older service that still runs has no such route.
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  });
}

/** Assistants with a row of their own. */
const MOST_TOOLS = 4;

function printStorage(storage: StorageFigures, row: (name: string, text: string) => void): void {
  const { free, bytes, catalogue, transcripts, logs, derived, files, tools, back } = storage;
  row("disk", `${formatBytes(bytes)}${free === null ? "" : `, ${formatBytes(free)} are free`}`);
  const budget = logs && logs.budget !== null ? ` of ${formatBytes(logs.budget)}` : "";
  const parts = [
    `transcripts ${formatBytes(transcripts.bytes)}`,
    `catalogue ${formatBytes(catalogue.bytes)}`,
    ...(logs ? [`raw logs ${formatBytes(logs.stored)}${budget}`] : []),
    `derived ${formatBytes(derived.bytes)}`,
    ...(files.bytes > 0 ? [`files ${formatBytes(files.bytes)}`] : []),
  ];
  row("", parts.join(", "));
  const shown = tools.slice(0, MOST_TOOLS).map((tool) => `${tool.label} ${formatBytes(tool.transcripts + tool.logs)}`);
  const more = tools.length - shown.length;
  if (shown.length > 0) row("", `${shown.join(", ")}${more > 0 ? `, ${more} more` : ""}`);
  if (back.catalogue > 0) row("", `${formatBytes(back.catalogue)} of the catalogue are empty: sessarc vacuum`);
  if (logs?.isOver)
    row("", "raw logs are over their budget, and all of them are gone at their assistants or will be within 7 days");
  if (logs && logs.leftOutDying > 0)
    row(
      "",
      `${formatCount(logs.leftOutDying)} raw logs that will be deleted within 7 days have no room: sessarc doctor`,
    );
}

function versionText(running: Running): string {
  const version = running.lock.version ?? "unknown";
  return isOlder(running) ? `${version}; ${VERSION} is installed: sessarc restart` : version;
}

function sessionsText({ storage, sync }: StatusReport): string {
  const { mode, lastAt } = (sync ?? {}) as { mode?: string; lastAt?: string | null };
  const how =
    mode === "watching" || mode === "polling" ? "follows the logs" : `does not follow the logs (${mode ?? "off"})`;
  return `${formatCount(storage.sessions)}, ${how}${lastAt ? `, in sync ${formatMoment(new Date(lastAt))}` : ""}`;
}

/** Lines of a section that a plugin added: texts, or objects with `text` and `since`. */
function toNotices(status: StatusReport, key: string): string[] {
  const section: unknown = status[key];
  return (Array.isArray(section) ? section : []).flatMap((one: unknown) => {
    if (typeof one === "string") return [one];
    if (!isRecord(one) || typeof one.text !== "string") return [];
    return [typeof one.since === "string" ? `${one.text}, since ${formatMoment(new Date(one.since))}` : one.text];
  });
}

/** How often a followed log is read. */
const FOLLOW_MS = 300;
/** Read from the end for the last lines. */
const TAIL_BYTES = 2 ** 20;

export async function logs(ctx: CoreContext): Promise<number> {
  const limit = numberFlag(ctx.flags, "limit", 1, 100_000) ?? 100;
  const path = join(ctx.config.dataDir, LOG_FILE);
  const first = await readTail(path);
  if (first === undefined) {
    ctx.err("No service ran in the background yet: sessarc start");
    return EXIT.nothing;
  }
  const lines = first.text.trimEnd().split("\n");
  ctx.out(lines.slice(-limit).join("\n"));
  let at = first.end;
  while (ctx.flags.follow === true && !ctx.signal.aborted) {
    await delay(FOLLOW_MS, undefined, { signal: ctx.signal }).catch(() => {});
    const next = await readTail(path, at);
    // A rotated log begins again.
    if (next && next.text !== "") ctx.out(next.text.trimEnd());
    at = next?.end ?? 0;
  }
  return EXIT.ok;
}

/** The text of a file from `from` on, 1 MiB at most from its end; undefined without the file. */
async function readTail(path: string, from = 0): Promise<{ text: string; end: number } | undefined> {
  const file = await ifThere(open(path));
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    const start = Math.max(size < from ? 0 : from, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    return { text: buffer.toString("utf8", 0, bytesRead), end: start + bytesRead };
  } finally {
    await file.close();
  }
}
