/** A report of some days: what was worked on, what it cost, what failed and what was wasted, and which of it is in git. */
import type { Kernel, Services } from "sessarc";
import { type ReportUnfinished, type ReportWasted, type TimeSpan, titleOf, unfinishedIn, wastedIn } from "./wasted.ts";

type Waste = Awaited<ReturnType<Services["health"]["all"]>>[number];

interface ReportQuery {
  /** Local days, both included. */
  from: string;
  to: string;
  /** Zone whose days count; default this machine's. */
  tz: string | undefined;
  /** Names the sessions, which may be their first prompts. */
  prompts: boolean;
  /** Asks git how far the work of each project is in it, and whether it holds what sessions destroyed. */
  git: boolean;
}
export interface ReportProject extends ReportTotals {
  id: string;
  name: string;
  /** What it cost in as many days right before. */
  previousMicrodollars: number;
  git: ReportGit | null;
  /** What its sessions are called; null unless prompts were asked for. */
  titles: string[] | null;
}
/** How far the work is in git; null where the project is not in a repository. */
interface ReportGit {
  branch: string | null;
  /** The newest commit of these days; null where nothing was committed in them. */
  commit: { hash: string; subject: string; at: string } | null;
  /** There are changes that are not committed, now. */
  dirty: boolean;
}
export interface ReportWindow {
  tool: string;
  start: string;
  end: string;
  tokens: number;
  microdollars: number;
  /** Models without a price: not in `microdollars`. */
  unpriced: string[];
  /** Percentage that the provider reported; null where none was. */
  usedPercent: number | null;
}
/** A file that a session deleted or overwrote, and whose content is neither on the disk nor in git. */
export interface ReportDestroyed {
  path: string;
  /** What did it: `rm`, `git clean`, `write`. */
  how: string;
  at: string | null;
  session: string;
  /** What can be had back: `exact`, `exact to line n`, or `partial`. */
  state: string;
  /** Lines of it were seen earlier, and nothing shows that they were unchanged. */
  isAssumed: boolean;
}
export interface ReportTotals {
  sessions: number;
  messages: number;
  activeMs: number;
  tokens: number;
  microdollars: number;
  /** Models without a price: not in `microdollars`. */
  unpriced: string[];
}
export interface Report {
  from: string;
  to: string;
  madeAt: string;
  totals: ReportTotals;
  /** As many days right before. */
  before: { from: string; to: string };
  /** Of the days before. */
  previous: ReportTotals;
  /** Projects of the days before alone, the dearest first. */
  previousOnly: { id: string; name: string; microdollars: number }[];
  /** Dearest first. */
  projects: ReportProject[];
  /** Dearest first. */
  windows: ReportWindow[];
  /** Tools of which calls failed, the most failures first. */
  failing: { name: string; calls: number; errors: number }[];
  /** Repeated reads, retries, loops and waits, the largest of each. */
  wastes: Pick<Waste, "kind" | "tool" | "subject" | "sessions" | "count" | "tokens" | "ms">[];
  wasted: ReportWasted[];
  /** Sessions that ended in these days and that their user may want to resume, the newest first. Running sessions are left out. */
  unfinished: ReportUnfinished[];
  /** What the 20 newest sessions of these days destroyed in them; null where git is not asked. */
  destroyed: { files: number; sessions: number; rows: ReportDestroyed[] } | null;
}

const MOST = 10;
const WASTES = 3;
const DAY_MS = 86_400_000;
/** Minutes of a window. */
const WINDOW = 300;
const TITLES = 20;
const DESTROYED = 20;
/** What of a session's messages a report may contain: commands may hold anything, and are left out unless prompts are asked for. */
const PATHS: ReadonlySet<string> = new Set(["reread", "readEverywhere", "undone"]);

/** Findings that `unfinished` lists by session. */
const ENDINGS: ReadonlySet<Waste["kind"]> = new Set(["unread", "unanswered", "failedLast"]);

export async function makeReport(kernel: Kernel, { from, to, tz, prompts, git }: ReportQuery): Promise<Report> {
  const insights = kernel.inject("insights");
  const archive = kernel.inject("archive");
  const now = Date.now();
  const span = insights.span({ from, to, tz });
  const [{ usage, calls }, ids] = await Promise.all([
    insights.byProject({ from, to, tz }),
    insights.sessionsIn({ from, to, tz }),
  ]);
  const failed = calls.reduce((sum, { errors }) => sum + errors, 0);
  const before = daysBefore(from, to);
  const [previous, blocks, wastes, all, wasted, unfinished, destroyed] = await Promise.all([
    insights.byProject({ ...before, tz }),
    insights.blocks({ minutes: WINDOW, from, tz, now }),
    kernel.inject("health").all({ ids }, WASTES),
    archive.projects(),
    wastedIn(kernel, ids, { failed, prompts }),
    unfinishedIn(kernel, span, prompts),
    git ? destroyedIn(kernel, span) : null,
  ]);
  const known = new Map(all.map((project) => [project.id, project]));
  const listed = usage.rows.flatMap(({ key }) => known.get(key) ?? []);
  const states = git ? await readGit(kernel, listed, span) : new Map<string, ReportGit>();
  const costBefore = new Map(previous.usage.rows.map(({ key, cost }) => [key, cost.microdollars]));
  const projects = await Promise.all(
    usage.rows.map(
      async (row): Promise<ReportProject> => ({
        id: row.key,
        name: row.label ?? row.key,
        sessions: row.sessions,
        messages: row.messages ?? 0,
        activeMs: row.activeMs ?? 0,
        tokens: addUp(row.tokens),
        microdollars: row.cost.microdollars,
        unpriced: row.cost.unpriced,
        previousMicrodollars: costBefore.get(row.key) ?? 0,
        git: states.get(row.key) ?? null,
        titles: prompts ? await readTitles(kernel, row.key, span) : null,
      }),
    ),
  );
  return {
    from,
    to,
    madeAt: new Date(now).toISOString(),
    totals: toTotals(usage.totals),
    before,
    previous: toTotals(previous.usage.totals),
    previousOnly: previous.usage.rows
      .filter(({ key }) => !usage.rows.some((row) => row.key === key))
      .map(({ key, label, cost }) => ({ id: key, name: label ?? key, microdollars: cost.microdollars })),
    projects,
    windows: blocks.rows
      .filter(({ start }) => Date.parse(start) < span.until)
      .map(({ tool, start, end, tokens, cost, reported }) => ({
        tool,
        start,
        end,
        tokens: addUp(tokens),
        microdollars: cost.microdollars,
        unpriced: cost.unpriced,
        usedPercent: reported?.usedPercent ?? null,
      }))
      .sort((a, b) => b.microdollars - a.microdollars || b.tokens - a.tokens || (a.start < b.start ? -1 : 1))
      .slice(0, MOST),
    failing: calls
      .filter(({ errors }) => errors > 0)
      .sort((a, b) => b.errors - a.errors || (a.name < b.name ? -1 : 1))
      .slice(0, MOST)
      .map(({ name, calls, errors }) => ({ name, calls, errors })),
    wastes: wastes
      .filter(({ kind }) => !ENDINGS.has(kind))
      .map(({ kind, tool, subject, sessions, count, tokens, ms }) => ({
        kind,
        tool,
        subject: prompts || PATHS.has(kind) ? subject : "",
        sessions,
        count,
        tokens,
        ms,
      })),
    wasted,
    unfinished,
    destroyed,
  };
}

async function destroyedIn(kernel: Kernel, { since, until }: TimeSpan): Promise<Report["destroyed"]> {
  const found = (await kernel.find("undelete")?.destroyed({ since, until })) ?? [];
  const rows = found.flatMap(({ id, files }) =>
    files.map(({ path, how, at, version }) => ({
      ...{ path, how, at, session: id, state: version.state, isAssumed: version.isAssumed },
    })),
  );
  const inThem = rows.filter(({ at }) => at === null || (Date.parse(at) >= since && Date.parse(at) < until));
  return {
    files: inThem.length,
    sessions: new Set(inThem.map(({ session }) => session)).size,
    rows: inThem.slice(0, DESTROYED),
  };
}

type UsageTotals = Awaited<ReturnType<Services["insights"]["byProject"]>>["usage"]["totals"];

const toTotals = ({ sessions, messages, activeMs, tokens, cost }: UsageTotals): ReportTotals => ({
  sessions,
  messages: messages ?? 0,
  activeMs: activeMs ?? 0,
  tokens: addUp(tokens),
  microdollars: cost.microdollars,
  unpriced: cost.unpriced,
});

const addUp = (tokens: object): number =>
  Object.values(tokens).reduce((sum: number, count: unknown) => sum + (typeof count === "number" ? count : 0), 0);

/** As many days right before. */
function daysBefore(from: string, to: string): { from: string; to: string } {
  const days = Math.round((Date.parse(to) - Date.parse(from)) / DAY_MS) + 1;
  const day = (back: number) => new Date(Date.parse(from) - back * DAY_MS).toISOString().slice(0, 10);
  return { from: day(days), to: day(1) };
}

type Project = Awaited<ReturnType<Services["archive"]["projects"]>>[number];

async function readGit(
  kernel: Kernel,
  projects: readonly Project[],
  { since, until }: TimeSpan,
): Promise<Map<string, ReportGit>> {
  const git = kernel.find("git");
  const found = new Map<string, ReportGit>();
  if (!git) return found;
  const states = await kernel.inject("archive").gitOf(projects);
  for (const { id, path } of projects) {
    const state = states.get(id);
    if (path === null || !state || "timedOut" in state) continue;
    // A repository without commits, or whose history cannot be read, has none of these days.
    const at = await git.commitAt(path, new Date(until - 1).toISOString()).catch(() => undefined);
    const commit = at?.commit && Date.parse(at.commit.at) >= since ? at.commit : null;
    found.set(id, {
      branch: state.branch,
      commit: commit && { hash: commit.hash, subject: commit.subject, at: commit.at },
      dirty: state.dirty,
    });
  }
  return found;
}

async function readTitles(kernel: Kernel, project: string, span: TimeSpan): Promise<string[]> {
  const sessions = await kernel.inject("archive").list({ project, ...span, topLevel: true, limit: TITLES });
  return sessions.map(titleOf);
}
