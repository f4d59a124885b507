/** Checks of this machine and this archive: what could be wrong, and what to do about it. */
import { access, chmod, constants, readdir, stat, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Adapter, AdapterEnv } from "../contract/adapter.ts";
import type { Kernel } from "../contract/kernel.ts";
import type { DoctorCheck, DoctorReport } from "../contract/reports.ts";
import { isSessarcError } from "../errors/error.ts";
import { systemReason } from "../errors/system.ts";
import { findBlocked, putAside } from "../storage/blocked.ts";
import { DAMAGED } from "../storage/present.ts";
import { toStorageError } from "../storage/storage-error.ts";
import { formatBytes, formatCount } from "../terminal/format.ts";
import { toMessage } from "../utils/async.ts";
import { codeOf, isGone } from "../utils/gone.ts";
import { takeClosed } from "../utils/log-files.ts";
import { makeFolder } from "../utils/make-folder.ts";

/** Runtime, data directory and free space. With `fix`, safe repairs are made. */
export async function checkMachine(dataDir: string, fix: boolean): Promise<DoctorCheck[]> {
  return [checkRuntime(), ...(await checkDataDir(dataDir, fix))];
}

/** Adds the tools' logs and, with `archived`, the catalogue and the plugins' own checks. Lists the tools' folders. */
export async function checkKernel(kernel: Kernel, report: DoctorReport, archived: boolean): Promise<void> {
  const { signal } = report;
  if (archived) report.checks.push(await checkCatalogue(kernel, signal));
  for (const { plugin, message, fix } of kernel.registry.problems)
    report.checks.push({ name: `plugin ${plugin}`, status: "fail", detail: message, fix: fix ?? undefined });
  for (const adapter of kernel.registry.adapters.values()) {
    signal?.throwIfAborted();
    report.checks.push(await checkTool(adapter, kernel.env, kernel.registry.unreadable));
  }
  signal?.throwIfAborted();
  if (archived) await kernel.hooks.callHook("doctor:check", report);
}

/** A listener of `doctor:check`; one that throws, or takes too long, is a line of the report. */
export function asLine(
  listener: (report: DoctorReport) => unknown,
  plugin: string | undefined,
): (report: DoctorReport) => Promise<void> {
  return async (report) => {
    try {
      await listener(report);
    } catch (error) {
      report.signal?.throwIfAborted();
      const name = plugin === undefined ? "check" : `plugin ${plugin}`;
      const fix = isSessarcError(error) ? error.fix : undefined;
      report.checks.push({ name, status: "fail", detail: toMessage(error), fix });
    }
  };
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

/** Why nothing can be made in the folder, or where it would be made. */
async function findBarred(path: string): Promise<string | undefined> {
  const error = await access(path, constants.W_OK | constants.X_OK).catch((error: unknown) => error);
  if (error === undefined) return undefined;
  if (codeOf(error) === "ENOENT" && dirname(path) !== path) return findBarred(dirname(path));
  return systemReason(error) ?? toMessage(error);
}

async function checkDataDir(path: string, fix: boolean): Promise<DoctorCheck[]> {
  const name = "data directory";
  const made = fix ? await makeFolder(path, 0o700).catch((error: unknown) => toStorageError(error, path)) : undefined;
  if (made instanceof Error) return [{ name, status: "fail", detail: made.message, fix: "Choose another --data-dir." }];
  const info = await stat(path).catch((error: Error) => error);
  if (info instanceof Error && codeOf(info) !== "ENOENT") return [{ name, status: "fail", detail: info.message }];
  const barred = await findBarred(path);
  if (barred !== undefined)
    return [
      {
        name,
        status: "fail",
        detail: `${path} cannot be written: ${barred}`,
        fix: "The archive can be read. To import, check the folder's permissions and file system, or choose another --data-dir.",
      },
    ];
  if (info instanceof Error) return [{ name, status: "ok", detail: `${path} (created at the first import)` }];
  const checks: DoctorCheck[] = [];
  const open = process.platform !== "win32" && (info.mode & 0o077) !== 0;
  if (open && fix) await chmod(path, 0o700);
  checks.push(
    open && !fix
      ? { name, status: "warn", detail: `${path} can be read by other users`, fix: "`sessarc doctor --fix` closes it." }
      : { name, status: "ok", detail: path },
  );
  const blocked = await findBlocked(path);
  if (blocked.length > 0) checks.push(await repairFolders(path, blocked, fix));
  const kept = (await readdir(path)).filter((one) => one.includes(DAMAGED)).sort();
  if (kept.length > 0)
    checks.push({
      name: "kept files",
      status: "warn",
      detail: `An earlier repair moved ${kept.join(", ")} out of use in ${path}`,
      fix: "Delete these files once no session is missing.",
    });
  const { bavail, bsize } = await statfs(path);
  const free = bavail * bsize;
  checks.push(
    free < 2 ** 30
      ? {
          name: "disk",
          status: "warn",
          detail: `${formatBytes(free)} free`,
          fix: "Free disk space: importing needs about a fifth of the logs' size.",
        }
      : { name: "disk", status: "ok", detail: `${formatBytes(free)} free` },
  );
  return checks;
}

async function repairFolders(dataDir: string, blocked: readonly string[], fix: boolean): Promise<DoctorCheck> {
  const name = "folders";
  const detail = `No folder, so nothing in it can be read or written: ${blocked.join(", ")}`;
  if (!fix) return { name, status: "fail", detail, fix: "`sessarc doctor --fix` moves it away and keeps it." };
  try {
    const kept = await putAside(dataDir, blocked);
    return {
      name: "repaired",
      status: "warn",
      detail: `${detail}. Kept: ${kept.join(", ")}`,
      fix: "Run `sessarc import` to re-import missing sessions. Then remove the kept files.",
    };
  } catch (error) {
    if (!isSessarcError(error)) throw error;
    return { name, status: "fail", detail: `${detail}. ${error.message}`, fix: error.fix };
  }
}

async function checkCatalogue(kernel: Kernel, signal: AbortSignal | undefined): Promise<DoctorCheck> {
  const { db } = kernel.storage;
  const name = "catalogue";
  try {
    const fault = await db.check(signal);
    if (fault !== undefined)
      return {
        name,
        status: "fail",
        detail: fault,
        fix: "Stop the service and run `sessarc doctor --fix`: it rebuilds the catalogue from what can still be read and keeps the damaged files.",
      };
  } catch (error) {
    if (!isSessarcError(error) || error.code !== "WORKER_ENDED") throw error;
    return { name, status: "warn", detail: `It could not be checked: ${error.message}`, fix: error.fix };
  }
  return { name, status: "ok", detail: `${formatBytes(db.stats.fileBytes)}, intact` };
}

const ABSENT = "not found (";

/** The name of the assistant, where a check found its logs and nothing is wrong with them. */
export function findPresent(check: DoctorCheck, adapters: ReadonlyMap<string, Adapter>): string | undefined {
  const label = adapters.get(check.name)?.label;
  const present = check.status === "ok" && !check.detail.startsWith(`${label}: ${ABSENT}`);
  return present ? label : undefined;
}

/** How many sessions a tool's logs hold, and which of its places cannot be read. */
async function checkTool(
  adapter: Adapter,
  env: AdapterEnv,
  unreadable: ReadonlyMap<string, string>,
): Promise<DoctorCheck> {
  const { name, label } = adapter;
  const sessions = new Set<string>();
  const places: string[] = [];
  const problems: string[] = [];
  for (const root of adapter.roots(env)) {
    try {
      await stat(root);
      places.push(root);
      takeClosed(root);
      for await (const { key } of adapter.scan(root, env)) sessions.add(key);
      const closed = takeClosed(root);
      const [first] = closed;
      if (first !== undefined)
        problems.push(`${first} may not be read${closed.length > 1 ? `, nor ${closed.length - 1} more folders` : ""}`);
    } catch (error) {
      if (!isGone(error)) problems.push(toMessage(error));
    }
  }
  const reason = unreadable.get(name);
  if (reason !== undefined) problems.push(reason);
  if (problems.length > 0)
    return {
      name,
      status: "warn",
      detail: `${label}: ${problems.join("; ")}`,
      fix: "Check its permissions, and whether its disk answers. It is checked again automatically.",
    };
  if (places.length === 0)
    return { name, status: "ok", detail: `${label}: ${ABSENT}${adapter.roots(env)[0] ?? "no known place"})` };
  const unproved = adapter.unproved ? "; unproved: the format is known from public code only" : "";
  return {
    name,
    status: "ok",
    detail: `${label}: ${formatCount(sessions.size)} sessions in ${places.join(", ")}${unproved}`,
  };
}
