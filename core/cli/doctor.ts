/** `sessarc doctor`: what could be wrong on this machine, and what to do about it. */
import { chmod, mkdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Adapter, AdapterEnv } from "../adapter.ts";
import { isSessarcError } from "../error.ts";
import type { Kernel } from "../types.ts";
import { exists } from "./demo.ts";
import { formatBytes, formatCount } from "./format.ts";
import type { CoreContext } from "./main.ts";
import { createStyle, printable } from "./style.ts";

export interface DoctorCheck {
  name: string;
  status: "ok" | "warn" | "fail";
  detail: string;
  /** What to do about it. */
  fix?: string | undefined;
}

/** Payload of `doctor:check`. */
export interface DoctorReport {
  checks: DoctorCheck[];
  /** True when what is safe to mend shall be mended. */
  fix: boolean;
}

export async function run(ctx: CoreContext): Promise<number> {
  const report: DoctorReport = { checks: [checkRuntime()], fix: ctx.flags.fix === true };
  report.checks.push(...(await checkDataDir(ctx.config.dataDir, report.fix)));
  const { kernel, archived } = await openKernel(ctx, report);
  if (kernel) {
    if (archived) report.checks.push(await checkCatalogue(kernel));
    for (const adapter of kernel.registry.adapters.values()) report.checks.push(await checkTool(adapter, kernel.env));
    if (archived) await kernel.hooks.callHook("doctor:check", report);
  }
  if (ctx.json) ctx.out(JSON.stringify(report));
  else print(ctx, report);
  return report.checks.some((check) => check.status === "fail") ? 1 : 0;
}

/** The archive itself where nobody has it open, else an empty one: the tools can be looked at all the same. */
async function openKernel(ctx: CoreContext, report: DoctorReport): Promise<{ kernel?: Kernel; archived: boolean }> {
  const empty = !(await exists(join(ctx.config.dataDir, "catalog.db")));
  // Looking must not make an archive where there is none.
  if (empty && !report.fix) return { kernel: await ctx.scratch(), archived: false };
  try {
    return { kernel: await ctx.kernel(), archived: true };
  } catch (error) {
    if (!isSessarcError(error)) throw error;
    const served = error.code === "ARCHIVE_LOCKED";
    report.checks.push({
      name: "archive",
      status: served ? "ok" : "fail",
      detail: error.message,
      ...(served ? {} : { fix: error.fix }),
    });
    if (served) report.checks.push(await checkService(ctx));
    return { kernel: await ctx.scratch(), archived: false };
  }
}

async function checkService(ctx: CoreContext): Promise<DoctorCheck> {
  const status = await ctx.get<{ version: string; storage: { sessions: number; messages: number } }>("/status");
  const { sessions, messages } = status.storage;
  const detail = `version ${status.version}, ${formatCount(sessions)} sessions, ${formatCount(messages)} messages; stop it to have the archive itself checked`;
  return { name: "service", status: "ok", detail };
}

function checkRuntime(): DoctorCheck {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const detail = `Node ${process.versions.node} on ${process.platform} ${process.arch}`;
  if (major < 20 || (major === 20 && minor < 19))
    return { name: "runtime", status: "fail", detail, fix: "Install Node 20.19 or later." };
  const native = major > 22 || (major === 22 && minor >= 5);
  return {
    name: "runtime",
    status: "ok",
    detail: `${detail}${native ? "" : "; databases over 512 MiB need Node 22.5"}`,
  };
}

async function checkDataDir(path: string, fix: boolean): Promise<DoctorCheck[]> {
  const name = "data directory";
  if (fix) await mkdir(path, { recursive: true, mode: 0o700 });
  const info = await stat(path).catch((error: NodeJS.ErrnoException) => error);
  if (info instanceof Error) {
    const missing = info.code === "ENOENT";
    return [
      { name, status: missing ? "ok" : "fail", detail: missing ? `${path} (made when first needed)` : info.message },
    ];
  }
  const checks: DoctorCheck[] = [];
  const open = process.platform !== "win32" && (info.mode & 0o077) !== 0;
  if (open && fix) await chmod(path, 0o700);
  checks.push(
    open && !fix
      ? { name, status: "warn", detail: `${path} can be read by other users`, fix: "`sessarc doctor --fix` closes it." }
      : { name, status: "ok", detail: path },
  );
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  checks.push(
    free < 2 ** 30
      ? {
          name: "disk",
          status: "warn",
          detail: `${formatBytes(free)} free`,
          fix: "Make room: importing needs about a fifth of the logs' size.",
        }
      : { name: "disk", status: "ok", detail: `${formatBytes(free)} free` },
  );
  return checks;
}

async function checkCatalogue(kernel: Kernel): Promise<DoctorCheck> {
  const rows = await kernel.storage.db.all<{ integrity_check: string }>("pragma integrity_check");
  const first = rows[0]?.integrity_check;
  const { snapshotBytes, journalBytes } = kernel.storage.db.stats;
  if (first === "ok")
    return { name: "catalogue", status: "ok", detail: `${formatBytes(snapshotBytes + journalBytes)}, intact` };
  return {
    name: "catalogue",
    status: "fail",
    detail: first ?? "no answer",
    fix: "Move the data directory away and import again.",
  };
}

/** How many sessions a tool's logs hold, and which of its places cannot be read. */
async function checkTool(adapter: Adapter, env: AdapterEnv): Promise<DoctorCheck> {
  const { name, label } = adapter;
  const sessions = new Set<string>();
  const places: string[] = [];
  const problems: string[] = [];
  for (const root of adapter.roots(env)) {
    try {
      await stat(root);
      places.push(root);
      for await (const { key } of adapter.scan(root, env)) sessions.add(key);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT")
        problems.push(error instanceof Error ? error.message : String(error));
    }
  }
  if (problems.length > 0)
    return {
      name,
      status: "warn",
      detail: `${label}: ${problems.join("; ")}`,
      fix: "Check the permissions of that place.",
    };
  if (places.length === 0)
    return { name, status: "ok", detail: `${label}: not found (${adapter.roots(env)[0] ?? "no known place"})` };
  return { name, status: "ok", detail: `${label}: ${formatCount(sessions.size)} sessions in ${places.join(", ")}` };
}

function print(ctx: CoreContext, report: DoctorReport): void {
  const style = createStyle(ctx.colour);
  const signs = { ok: style.green("ok  "), warn: style.yellow("warn"), fail: style.red("fail") };
  const width = Math.max(...report.checks.map((check) => check.name.length));
  for (const check of report.checks) {
    ctx.out(`${signs[check.status]}  ${check.name.padEnd(width)}  ${printable(check.detail)}`);
    if (check.fix && check.status !== "ok") ctx.out(`${" ".repeat(width + 8)}${style.dim(printable(check.fix))}`);
  }
}
