/** `sessarc doctor`: what could be wrong on this machine, and what to do about it. */
import type { Kernel } from "../contract/kernel.ts";
import type { DoctorCheck, DoctorReport } from "../contract/reports.ts";
import { isSessarcError, SessarcError } from "../errors/error.ts";
import { checkKernel, checkMachine, findPresent } from "../kernel/doctor.ts";
import { hasArchive } from "../storage/present.ts";
import { formatCount } from "../terminal/format.ts";
import { createStyle, printable, wrapColumns } from "../terminal/style.ts";
import type { CoreContext } from "./context.ts";

export async function run(ctx: CoreContext): Promise<number> {
  const report: DoctorReport = {
    checks: await checkMachine(ctx.config.dataDir, ctx.flags.fix === true),
    fix: ctx.flags.fix === true,
  };
  const { kernel, archived } = await openKernel(ctx, report);
  const { configError } = ctx.problems;
  if (configError)
    report.checks.push({ name: "configuration", status: "fail", detail: configError.message, fix: configError.fix });
  if (kernel) await checkKernel(kernel, report, archived);
  if (ctx.json) ctx.out(JSON.stringify(report));
  else print(ctx, report, kernel);
  return report.checks.some((check) => check.status === "fail") ? 1 : 0;
}

/** The archive where no other process has it open, else an empty one, so that the assistants are checked in any case. */
async function openKernel(
  ctx: CoreContext,
  report: DoctorReport,
  again = false,
): Promise<{ kernel?: Kernel; archived: boolean }> {
  const empty = !hasArchive(ctx.config.dataDir);
  // A check must not create an archive.
  if (empty && !report.fix) return { kernel: await ctx.scratch(), archived: false };
  try {
    const kernel = await ctx.kernel();
    const fault = report.fix && !again && !kernel.storage.readOnly ? await kernel.storage.db.check() : undefined;
    if (fault === undefined) return { kernel, archived: true };
    await kernel.close();
    throw new SessarcError("CATALOG_DAMAGED", { reason: fault });
  } catch (error) {
    if (!isSessarcError(error)) throw error;
    if (error.code === "CATALOG_DAMAGED" && report.fix && !again) {
      report.checks.push(await salvage(ctx.config.dataDir, error.message));
      return openKernel(ctx, report, true);
    }
    const served = error.code === "ARCHIVE_LOCKED";
    report.checks.push({
      name: "archive",
      status: served ? "ok" : "fail",
      detail: error.message,
      ...(served ? {} : { fix: error.fix }),
    });
    if (served) report.checks.push(...(await checkService(ctx)));
    return { kernel: await ctx.scratch(), archived: false };
  }
}

async function salvage(dataDir: string, damage: string): Promise<DoctorCheck> {
  const { salvageCatalogue } = await import("../storage/salvage.ts");
  const { kept, incomplete, rows } = await salvageCatalogue(dataDir);
  const lost = incomplete.length > 0 ? `; not all of ${incomplete.join(", ")} could be read` : "";
  return {
    name: "repaired",
    status: "warn",
    detail: `${damage}. Rebuilt with ${formatCount(rows)} rows${lost}; damaged files kept: ${kept.join(", ")}`,
    fix: "Run `sessarc import` to re-import missing sessions. Then remove the kept files.",
  };
}

/** What the running service reports: its plugins' checks that cost little are in `checks`. */
async function checkService(ctx: CoreContext): Promise<DoctorCheck[]> {
  const status = await ctx.get<{
    version: string;
    storage: { sessions: number; messages: number };
    checks?: DoctorCheck[];
  }>("/status");
  const { sessions, messages } = status.storage;
  const detail = `version ${status.version}, ${formatCount(sessions)} sessions, ${formatCount(messages)} messages; stop it to have the archive itself checked`;
  return [{ name: "service", status: "ok", detail }, ...(status.checks ?? [])];
}

/** What is in order is one line, unless `--all` asks for it. */
function print(ctx: CoreContext, { checks }: DoctorReport, kernel: Kernel | undefined): void {
  const style = createStyle(ctx.colour);
  const signs = { ok: style.green("ok  "), warn: style.yellow("warn"), fail: style.red("fail") };
  const shown = ctx.flags.all === true ? checks : checks.filter(({ status }) => status !== "ok");
  const width = Math.max(0, ...shown.map((check) => check.name.length));
  for (const check of shown) {
    ctx.out(`${signs[check.status]}  ${check.name.padEnd(width)}  ${printable(check.detail)}`);
    if (check.fix && check.status !== "ok") ctx.out(`${" ".repeat(width + 8)}${style.dim(printable(check.fix))}`);
  }
  if (ctx.flags.all === true) return;
  const fine = checks.length - shown.length;
  const labels = checks.flatMap((check) => (kernel && findPresent(check, kernel.registry.adapters)) ?? []);
  for (const line of wrapColumns(
    labels.length === 0
      ? "No logs of any assistant are found; --all lists where they would be."
      : `Logs are found of ${labels.join(", ")}.`,
    ctx.columns ?? Number.POSITIVE_INFINITY,
  ))
    ctx.out(line);
  ctx.out(
    `${shown.length === 0 ? `All ${formatCount(fine)} checks are in order` : `${formatCount(fine)} other checks are in order`}; --all lists them.`,
  );
}
