/** `export --all --to <folder>`: the archive as files that need no program. Only what changed since the last time is written. */
import { createHash } from "node:crypto";
import { type FileHandle, mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { parseRecord, type SessionUsage } from "sessarc";
import { ifThere, readRegular, writeFileAtomic } from "sessarc/files";
import {
  ApiError,
  accepted,
  type CommandContext,
  createProgress,
  formatCount,
  isRedacted,
  printable,
  sessionTitle,
  UsageError,
} from "sessarc/terminal";
import type { DocumentSession } from "../export/sessions.ts";
import { plain, redacted } from "./_document.ts";

/** Ask the API: a document has fewer of these. */
type Listed = DocumentSession;
interface Page {
  sessions: Listed[];
  nextCursor?: string | null;
}
interface LogFile {
  path: string;
  size: number;
}

/** What was written of a session, so that the next export knows whether it changed. */
interface Done {
  stamp: string;
  /** Paths below the folder. */
  files: string[];
  /** As the documents have it: a redacted one differs from the session's. */
  title: string;
}

const MANIFEST = "manifest.json";
const PAGE = 200;
const README = `# Sessions

Written by \`sessarc export --all\`. No program is needed to read it.

- \`sessions.csv\`: a row for each session of the archive, with its tokens, its estimated cost and its files.
- \`sessions/<assistant>/<month>/\`: each session as Markdown, for reading, and as JSON, for programs.
- \`logs/\`: the assistants' own logs, below the home folder they were in; what was elsewhere is below \`logs/_other\`.
- \`manifest.json\`: what was written from which state. The next export skips what did not change; files of sessions that left the archive stay.
`;

export async function exportAll(ctx: CommandContext): Promise<number> {
  const { to } = ctx.flags;
  if (typeof to !== "string") throw new UsageError("Name the folder: `sessarc export --all --to <folder>`");
  if (ctx.args.length > 0) throw new UsageError("--all exports every session: leave out the session's name");
  const folder = resolve(ctx.cwd, to);
  const hides = isRedacted(ctx);
  const manifest = await readManifest(folder);
  const marks = await readMarks(ctx);
  const progress = createProgress({ tty: ctx.tty, columns: process.stderr.columns, write: ctx.errRaw });
  const counts = { written: 0, unchanged: 0, failed: 0, withoutLog: 0 };
  const rows: string[] = [toRow(COLUMNS)];
  const names = new Map(
    (await ctx.get<{ id: string; name: string }[]>("/projects", { git: "0" })).map((one) => [one.id, one.name]),
  );
  await put(folder, "README.md", README);
  try {
    for await (const session of listAll(ctx)) {
      ctx.signal.throwIfAborted();
      const stamp = toStamp(session, marks.get(session.id) ?? "", hides);
      const before = manifest.get(session.id);
      let done = before;
      if (before?.stamp === stamp && (await areThere(folder, before.files))) counts.unchanged++;
      else {
        try {
          done = { stamp, ...(await writeSession(ctx, folder, session, hides)) };
          manifest.set(session.id, done);
          counts.written++;
          if (counts.written % PAGE === 0) await writeManifest(folder, manifest);
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          counts.failed++;
          ctx.err(printable(`failed ${session.id}: ${error.message} (${error.code})`));
        }
      }
      const files = done?.files ?? [];
      if (!hides && !files.some((file) => file.startsWith("logs/"))) counts.withoutLog++;
      rows.push(toRow(toCells(session, hides ? undefined : (names.get(session.projectId) ?? ""), done)));
      progress.update({ done: counts.written + counts.unchanged + counts.failed, total: 0 });
    }
  } finally {
    progress.clear();
    await writeManifest(folder, manifest);
  }
  await put(folder, "sessions.csv", rows.join(""));
  if (ctx.json) ctx.answer({ folder, ...counts });
  else {
    ctx.out(
      `${formatCount(counts.written)} sessions written, ${formatCount(counts.unchanged)} unchanged: ${printable(folder)}`,
    );
    if (counts.withoutLog > 0)
      ctx.err(`Of ${formatCount(counts.withoutLog)} there is no raw log: gone at the assistant, and not stored here.`);
    if (hides) ctx.err("Raw logs hold what was redacted: they were left out.");
  }
  return counts.failed > 0 ? 1 : 0;
}

/** Sessions and their sub-agents, a page at a time. */
async function* listAll(ctx: CommandContext): AsyncGenerator<Listed> {
  let cursor: string | undefined;
  do {
    const page = await ctx.get<Page>("/sessions", { limit: String(PAGE), cursor }, ctx.signal);
    yield* page.sessions;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

async function writeSession(
  ctx: CommandContext,
  folder: string,
  session: Listed,
  hides: boolean,
): Promise<Pick<Done, "files" | "title">> {
  const { id, startedAt, endedAt } = session;
  const colon = id.indexOf(":");
  const month = (startedAt ?? endedAt ?? "undated").slice(0, 7);
  const base = join("sessions", toName(id.slice(0, colon)), month, toName(id.slice(colon + 1)));
  const files: string[] = [];
  let title = sessionTitle(session);
  for (const format of ["md", "json"] as const) {
    const text = hides ? (await redacted(ctx, id, format)).text : await plain(ctx, id, format);
    files.push(await put(folder, `${base}.${format}`, text));
    if (hides && format === "md") title = /^# (.*)$/m.exec(text)?.[1] ?? title;
  }
  if (hides) return { files, title };
  const path = `/sessions/${encodeURIComponent(id)}/log`;
  const { home, files: logs } = await ctx.get<{ home: string; files: LogFile[] }>(path);
  for (const [n, log] of logs.entries()) {
    const answer = await ctx.fetch(`${path}?file=${n}`, { signal: ctx.signal });
    if (answer.status === 404) continue; // removed since
    const { body } = await accepted(answer);
    const target = log.path === "" ? `${join("logs", "_rows", base)}.json` : toLogPath(log.path, home);
    const write = async (file: FileHandle) => {
      for await (const piece of body ?? []) await file.write(piece);
    };
    files.push(await put(folder, target, write));
  }
  return { files, title };
}

/** Below `logs`, in the layout that the log's assistant has. */
function toLogPath(path: string, home: string): string {
  const parts = (text: string) => text.split(/[\\/]+/).filter((part) => part !== "" && part !== "." && part !== "..");
  const [own, above] = [parts(path), parts(home)];
  const isInside = above.every((part, i) => own[i] === part);
  const rest = isInside ? own.slice(above.length) : ["_other", ...own];
  return join("logs", ...rest.map((part) => part.replaceAll(":", "_")));
}

/** A name that every system takes, and that no two keys share. */
function toName(text: string): string {
  const plainName = text
    .replace(/[^\w.-]+/g, "-")
    .replace(/^\.+/, "")
    .slice(0, 100);
  if (plainName === text) return text;
  return `${plainName}-${createHash("sha256").update(text).digest("hex").slice(0, 10)}`;
}

async function put(folder: string, path: string, data: Parameters<typeof writeFileAtomic>[1]): Promise<string> {
  const target = join(folder, path);
  await mkdir(dirname(target), { recursive: true, mode: 0o700 });
  await writeFileAtomic(target, data);
  return path.replaceAll("\\", "/");
}

async function areThere(folder: string, files: readonly string[]): Promise<boolean> {
  for (const file of files) if (!(await ifThere(stat(join(folder, file))))?.isFile()) return false;
  return files.length > 0;
}

/** Changes when a document would. Costs do not count: they change with prices. */
function toStamp(
  { name, title, parentId, projectId, messageCount, source, importedAt }: Listed,
  marks: string,
  hides: boolean,
): string {
  const facts = [hides, name, title, parentId, projectId, messageCount, source.path, source.bytes, importedAt, marks];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 20);
}

/** When each session's bookmarks, tags and notes last changed, and how many there are; none without the plugin that has them. */
async function readMarks(ctx: CommandContext): Promise<ReadonlyMap<string, string>> {
  const marks = await ctx.get<{ session: string; updatedAt: string }[]>("/notes").catch((error: unknown) => {
    if (error instanceof ApiError && error.status === 404) return [];
    throw error;
  });
  const found = new Map<string, string>();
  for (const { session, updatedAt } of marks) found.set(session, `${found.get(session) ?? ""} ${updatedAt}`);
  return found;
}

async function readManifest(folder: string): Promise<Map<string, Done>> {
  const entries = await ifThere(readdir(folder));
  if (!entries || entries.length === 0) return new Map();
  const text = await ifThere(readRegular(join(folder, MANIFEST)));
  if (text === undefined)
    throw new UsageError(
      `${printable(folder)} has files of something else: name an empty folder, or one of an earlier export`,
    );
  const { sessions } = parseRecord(text) ?? {};
  const known = new Map<string, Done>();
  if (typeof sessions !== "object" || sessions === null) return known;
  for (const [id, done] of Object.entries(sessions as Record<string, Partial<Done>>))
    if (typeof done.stamp === "string" && typeof done.title === "string" && Array.isArray(done.files))
      known.set(id, { stamp: done.stamp, files: done.files, title: done.title });
  return known;
}

const writeManifest = (folder: string, sessions: ReadonlyMap<string, Done>) =>
  put(folder, MANIFEST, `${JSON.stringify({ version: 1, sessions: Object.fromEntries(sessions) }, null, 1)}\n`);

const COLUMNS = [
  "id",
  "assistant",
  "project",
  "folder",
  "title",
  "parent",
  "started",
  "ended",
  "messages",
  "models",
  "input",
  "output",
  "cache_write",
  "cache_read",
  "estimated_usd",
  "markdown",
  "json",
  "logs",
];

function toCells(session: Listed, project: string | undefined, done: Done | undefined): string[] {
  const { files = [], title = project === undefined ? "" : sessionTitle(session) } = done ?? {};
  const { id, tool, cwd, parentId, startedAt, endedAt, messageCount, usage, cost } = session;
  const all = Object.values(usage);
  const sum = (count: (one: SessionUsage[string]) => number) =>
    String(all.reduce((total, one) => total + count(one), 0));
  const ending = (text: string) => files.find((file) => file.startsWith("sessions/") && file.endsWith(text)) ?? "";
  return [
    id,
    tool,
    project ?? "",
    (project !== undefined && cwd) || "",
    title,
    parentId ?? "",
    startedAt ?? "",
    endedAt ?? "",
    String(messageCount),
    Object.keys(usage).join(" "),
    // Without tokens in the log there is no sum: empty, not 0.
    ...(all.length === 0
      ? ["", "", "", ""]
      : [
          sum(({ input }) => input),
          sum(({ output }) => output),
          sum(({ cacheWrite5m, cacheWrite1h }) => cacheWrite5m + cacheWrite1h),
          sum(({ cacheRead }) => cacheRead),
        ]),
    all.length > 0 && cost && cost.unpriced.length === 0 ? (cost.microdollars / 1e6).toFixed(6) : "",
    ending(".md"),
    ending(".json"),
    files.filter((file) => file.startsWith("logs/")).join(" "),
  ];
}

/** A row after RFC 4180. A text that a spreadsheet would compute is marked as one. */
const toRow = (cells: readonly string[]): string =>
  `${cells
    .map((cell) => (/^[=+\-@\t\r]/.test(cell) && Number.isNaN(Number(cell)) ? `'${cell}` : cell))
    .map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
    .join(",")}\r\n`;
