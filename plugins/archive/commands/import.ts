import { unknownAssistant } from "sessarc";
import {
  ApiError,
  accepted,
  type CommandContext,
  createProgress,
  createStyle,
  formatBytes,
  formatCount,
  formatDuration,
  formatTable,
  type ProgressState,
  printable,
  readFrames,
  UsageError,
} from "sessarc/terminal";

import { withExport } from "./import-file.ts";

interface ScanAnswer {
  tools: { tool: string; label: string; sessions: number; problems: { path: string; reason: string }[] }[];
  projects: { key: string; name: string; path: string | null; sessions: ScannedSession[] }[];
}
interface ScannedSession {
  id: string;
  tool: string;
  bytes: number;
  state: "new" | "changed" | "imported" | "deleted";
}
interface Outcome {
  imported: number;
  unchanged: number;
  skipped: number;
  failed: { id: string; code: string; message: string }[];
  cancelled: number;
  messages: number;
  bytes: number;
  ms: number;
}
type Frame =
  | ({ type: "progress" } & ProgressState)
  | { type: "session"; id: string; outcome: string }
  | ({ type: "done" } & Outcome)
  | { type: "error"; message: string };

interface Selection {
  tools?: string[];
  projects?: string[];
  sessions?: string[];
  all?: true;
}

/** Exit code of what Ctrl-C ended. */
const INTERRUPTED = 130;

export async function run(ctx: CommandContext): Promise<number> {
  const tools = list(ctx.flags.tool);
  const wanted = list(ctx.flags.project);
  const dry = ctx.flags["dry-run"] === true;
  if (typeof ctx.flags.file === "string") {
    if (tools.length > 0 || wanted.length > 0 || dry)
      throw new UsageError("--file imports one export: leave out --tool, --project and --dry-run");
    return withExport(ctx, ctx.flags.file, async (tool) => {
      ctx.err("An export holds no tokens: its sessions have no usage and no cost");
      return runImport(ctx, { tools: [tool] });
    });
  }
  // Finding the project of each log means reading it, which the user did not ask for.
  const looks = dry || wanted.length > 0;
  const scan = await ctx.get<ScanAnswer>("/scan", looks ? {} : { projects: "0" });
  checkTools(tools, scan);
  const projects = scan.projects.filter(
    (project) => wanted.length === 0 || wanted.some((text) => isProject(project, text)),
  );
  const sessions = projects
    .flatMap((project) => project.sessions)
    .filter((session) => tools.length === 0 || tools.includes(session.tool));
  for (const { problems } of scan.tools) {
    for (const problem of problems) ctx.err(printable(`not read: ${problem.path}: ${problem.reason}`));
  }
  const found = looks
    ? sessions.length
    : scan.tools
        .filter(({ tool }) => tools.length === 0 || tools.includes(tool))
        .reduce((sum, tool) => sum + tool.sessions, 0);
  if (found === 0) {
    ctx.err(
      wanted.length > 0
        ? "No log is of such a project. `sessarc import --dry-run` counts all, `sessarc projects` lists what is imported."
        : "No logs of any assistant are found. `sessarc doctor --all` lists where they would be.",
    );
    await tellTraces(ctx);
    return 3;
  }
  if (ctx.signal.aborted) return INTERRUPTED;
  if (dry) return dryRun(ctx, scan, sessions);
  const labels = new Map(scan.tools.map(({ tool, label }) => [tool, label]));
  return await runImport(ctx, select(tools, wanted, projects, sessions), labels);
}

/** Tool and project together can only be said by naming sessions: those deleted by the user stay deleted. */
function select(
  tools: string[],
  wanted: string[],
  projects: ScanAnswer["projects"],
  sessions: ScannedSession[],
): Selection {
  if (tools.length > 0 && wanted.length > 0) {
    return { sessions: sessions.filter((session) => session.state !== "deleted").map((session) => session.id) };
  }
  if (tools.length > 0) return { tools };
  return wanted.length > 0 ? { projects: projects.map((project) => project.key) } : { all: true };
}

async function runImport(
  ctx: CommandContext,
  selection: Selection,
  labels: ReadonlyMap<string, string> = new Map(),
): Promise<number> {
  const progress = createProgress({ tty: ctx.tty, columns: process.stderr.columns, write: ctx.errRaw });
  const byTool = new Map<string, Record<string, number>>();
  let done: Outcome | undefined;
  let cancelling: Promise<unknown> | undefined;
  // The stream is read on: it ends with what was finished.
  const cancel = () => {
    progress.clear();
    if (ctx.tty) ctx.err("cancelling… what is done is kept");
    cancelling = ctx.fetch("/import/cancel", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    cancelling.catch(() => {}); // told below, when it is awaited
  };
  ctx.signal.addEventListener("abort", cancel, { once: true });
  try {
    const response = await ctx.fetch("/import", {
      method: "POST",
      headers: { accept: "text/event-stream", "content-type": "application/json" },
      body: JSON.stringify(selection),
    });
    for await (const frame of readFrames<Frame>(await accepted(response))) {
      if (frame.type === "progress") progress.update(frame);
      else if (frame.type === "session") count(byTool, frame);
      else if (frame.type === "done") done = frame;
      else if (frame.type === "error") throw new Error(frame.message);
    }
    await cancelling;
  } finally {
    ctx.signal.removeEventListener("abort", cancel);
    progress.clear();
  }
  if (!done) throw new Error("The import ended without a result; what was imported so far stays");
  report(ctx, done, byTool, labels);
  if (!ctx.json && done.imported > 0) await sayTotal(ctx, done.imported);
  await tellTraces(ctx);
  if (ctx.signal.aborted) return INTERRUPTED;
  return done.failed.length > 0 ? 1 : 0;
}

function count(byTool: Map<string, Record<string, number>>, frame: { id: string; outcome: string }): void {
  const tool = frame.id.slice(0, frame.id.indexOf(":"));
  const row = byTool.get(tool) ?? {};
  row[frame.outcome] = (row[frame.outcome] ?? 0) + 1;
  byTool.set(tool, row);
}

/** Sub-agents are imported like sessions, and listed with the one that started them. */
async function sayTotal(ctx: CommandContext, imported: number): Promise<void> {
  const count = async (subagents?: string) =>
    (await ctx.get<{ total: number }>("/sessions", { limit: "1", subagents })).total;
  const [all, own] = [await count(), await count("0")];
  const others = all > own ? ` and ${formatCount(all - own)} of sub-agents` : "";
  ctx.out(`The archive has ${formatCount(own)} ${own === 1 ? "session" : "sessions"}${others}.`);
  if (ctx.tty && imported === all) ctx.err("`sessarc sessions` lists them, `sessarc` opens the dashboard.");
}

function report(
  ctx: CommandContext,
  done: Outcome,
  byTool: ReadonlyMap<string, Record<string, number>>,
  labels: ReadonlyMap<string, string>,
): void {
  if (done.cancelled > 0) {
    const begun = done.imported + done.failed.length;
    ctx.err(
      `cancelled after ${formatCount(begun)} of ${formatCount(begun + done.cancelled)}; the same command imports the other ${formatCount(done.cancelled)}`,
    );
  }
  if (ctx.json) {
    const { imported, unchanged, skipped, failed, cancelled, messages, bytes, ms, ...rest } = done;
    const { type: _, ...others } = rest as typeof rest & { type?: string };
    ctx.out(JSON.stringify({ imported, unchanged, skipped, failed, cancelled, messages, bytes, ms, ...others }));
    return;
  }
  if (done.unchanged > 0 && done.imported + done.skipped + done.failed.length + done.cancelled === 0) {
    const logs = done.unchanged === 1 ? "1 log is" : `${formatCount(done.unchanged)} logs are`;
    ctx.out(`Nothing is new: ${logs} imported already.`);
    return;
  }
  const style = createStyle(ctx.colour);
  const names = ["imported", "unchanged", "skipped", "failed"];
  const rows = [...byTool].sort(([a], [b]) => a.localeCompare(b));
  if (rows.length > 0) {
    const number = (name: string) => ({
      title: name,
      align: "right" as const,
      value: ([, counts]: [string, Record<string, number>]) => formatCount(counts[name] ?? 0),
    });
    ctx.out(
      formatTable([{ title: "assistant", value: ([tool]) => labels.get(tool) ?? tool }, ...names.map(number)], rows, {
        head: style.dim,
      }),
    );
  }
  ctx.out(
    `${formatCount(done.imported)} imported, ${formatCount(done.unchanged)} unchanged, ${formatCount(done.failed.length)} failed: ` +
      `${formatCount(done.messages)} messages, ${formatBytes(done.bytes)} in ${formatDuration(done.ms)}`,
  );
  for (const { id, code, message } of done.failed)
    ctx.err(`${style.red("failed")} ${id}: ${printable(message)} (${code})`);
}

/** What was deleted before it was archived, where a list of prompts is left of it. */
async function tellTraces(ctx: CommandContext): Promise<void> {
  if (ctx.json || ctx.signal.aborted) return;
  const left = await ctx
    .get<{ sessions: number; prompts: number }>("/traces", { limit: "0" })
    .catch((error: unknown) => {
      if (error instanceof ApiError && error.status === 404) return undefined; // the plugin is switched off
      throw error;
    });
  if (!left || left.sessions === 0) return;
  const were = left.sessions === 1 ? "1 session was" : `${formatCount(left.sessions)} sessions were`;
  ctx.err(`${were} deleted before; ${formatCount(left.prompts)} of their prompts are left: sessarc search kind:trace`);
}

function dryRun(ctx: CommandContext, scan: ScanAnswer, sessions: readonly ScannedSession[]): number {
  if (ctx.json) {
    ctx.out(JSON.stringify(scan));
    return 0;
  }
  const rows = scan.tools
    .map((tool) => ({ label: tool.label, own: sessions.filter((session) => session.tool === tool.tool) }))
    .filter((row) => row.own.length > 0);
  const states = ["new", "changed", "imported", "deleted"] as const;
  const table = formatTable<(typeof rows)[number]>(
    [
      { title: "assistant", value: (row) => row.label },
      ...states.map((state) => ({
        title: state,
        align: "right" as const,
        value: (row: (typeof rows)[number]) => formatCount(row.own.filter((session) => session.state === state).length),
      })),
      {
        title: "to read",
        align: "right",
        value: (row) => formatBytes(row.own.filter(isPending).reduce((sum, session) => sum + session.bytes, 0)),
      },
    ],
    rows,
    { head: createStyle(ctx.colour).dim },
  );
  ctx.out(table);
  ctx.out(
    `${formatCount(sessions.filter(isPending).length)} of ${formatCount(sessions.length)} sessions would be imported`,
  );
  return 0;
}

const isPending = (session: ScannedSession) => session.state === "new" || session.state === "changed";

function isProject(project: { key: string; name: string; path: string | null }, text: string): boolean {
  return project.key === text || project.name === text || project.path === text.replace(/(.)[/\\]$/, "$1");
}

function checkTools(tools: readonly string[], scan: ScanAnswer): void {
  const known = scan.tools.map((tool) => tool.tool);
  const unknown = tools.find((tool) => !known.includes(tool));
  if (unknown !== undefined) throw unknownAssistant(unknown, known);
}

function list(flag: CommandContext["flags"][string]): string[] {
  return (Array.isArray(flag) ? flag : flag === undefined ? [] : [flag]).map(String);
}
