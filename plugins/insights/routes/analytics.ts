/** GET /projects/:id: what happened in a project, day by day. */

import { defineRoute, type Kernel, marks, pages, type Services, type SessionUsage, yieldNow } from "sessarc";
import * as v from "valibot";
import { dayName, toZone } from "../figures/buckets.ts";
import { placedIn } from "../figures/paths.ts";
import { type Asked, readCalls, readHours, readKinds, readTokens, readWork } from "../figures/questions.ts";
import { type Range, rangeQuery, type Span, toSpan } from "../figures/range.ts";
import { at, Tally } from "../figures/tally.ts";
import type { Cost } from "../prices/pricing.ts";

type Archive = Services["archive"];
type Project = Awaited<ReturnType<Archive["project"]>>;
type Session = Awaited<ReturnType<Archive["session"]>>;

export interface ProjectTotals {
  sessions: number;
  messages: number;
  activeMs: number;
  errors: number;
  usage: SessionUsage;
  cost: Cost;
}
export interface ProjectDay extends ProjectTotals {
  day: string;
}
export interface ProjectFile {
  path: string;
  reads: number;
  edits: number;
  /** How many sessions read or changed it, and when the last of them ended. Sub-agents are sessions of their own here. */
  sessions: number;
  lastAt: string | null;
}
export interface ProjectAnalytics {
  project: Project;
  range: Range;
  totals: ProjectTotals;
  /** Every day of the range; without one, the days on which something happened. */
  perDay: ProjectDay[];
  /** Messages by kind, tools and files: of the sessions in the range, each as a whole. */
  kinds: Record<string, number>;
  tools: { name: string; calls: number; errors: number }[];
  models: { model: string; usage: SessionUsage[string]; cost: Cost }[];
  /** The 200 most touched. */
  files: ProjectFile[];
  /** Messages by weekday (0 is Monday) and hour of the local clock. */
  hours: number[][];
  /** Sessions with something in the range, sub-agents among them, newest first. */
  sessions: Session[];
}

const FILES = 200;

const get = defineRoute({
  method: "GET",
  path: "/projects/:id",
  meta: { team: true },
  summary: "A project with its sessions, tools, models and files, day by day",
  query: v.object({
    ...rangeQuery,
    /** `0` leaves git out: it may take its time. */
    git: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, params, query }): Promise<ProjectAnalytics | Response> => {
    const { answer } = kernel.inject("insights");
    const archive = kernel.inject("archive");
    const zone = toZone(query.tz);
    const span = toSpan(query, zone, Date.now());
    // Time alone makes a session go quiet: who is live is part of the question.
    const live = await archive.liveIds(params.id);
    const scope = { zone, range: span, choice: { projects: [params.id] } };
    const { project, rest } = await answer(["project", live], scope, async (asked) => {
      const { project, ...rest } = await analyse(kernel, params.id, asked, span);
      // Sessions by the hundred: written down once, only git is new each time.
      return { project, rest: await toJson(rest) };
    });
    const git = query.git === "0" ? null : (await archive.gitOf([project])).get(params.id);
    const head = Buffer.from(`{"project":${JSON.stringify({ ...project, git: git ?? null })},`);
    return new Response(Buffer.concat([head, rest.subarray(1)]), {
      headers: { "content-type": "application/json; charset=utf-8" },
    });
  },
});

export const analyticsRoutes = [get] as const;

async function analyse(kernel: Kernel, id: string, asked: Asked, span: Span): Promise<ProjectAnalytics> {
  const archive = kernel.inject("archive");
  const { db } = kernel.storage;
  const { prices } = asked;
  const project = await archive.project(id);
  const [work, tokens, byHour, calls, byKind] = await Promise.all([
    readWork(db, asked, { byDay: true }),
    readTokens(db, asked, "day"),
    readHours(db, asked),
    readCalls(db, asked),
    readKinds(db, asked),
  ]);
  const totals = new Tally(prices);
  const perDay = new Map<number, Tally>();
  const onDay = (day: number) => at(perDay, day, () => new Tally(prices));
  if (span.from !== null && span.to !== null) for (let day = span.from; day <= span.to; day++) onDay(day);
  for (const row of work)
    for (const tally of [totals, onDay(row.day)]) {
      tally.addWork(row);
      tally.addRoot(row.root);
    }
  for (const slot of tokens) for (const tally of [totals, onDay(Number(slot.key))]) tally.addTokens(slot);
  const hours = Array.from({ length: 7 }, () => new Array<number>(24).fill(0));
  for (const { hour, messages } of byHour) (hours[Math.floor(hour / 24)] as number[])[hour % 24] = messages;
  const touched = new Set(work.map(({ session }) => session));
  const sessions = await readSessions(archive, id, touched);
  const files = await touchedFiles(kernel, touched);
  return {
    project,
    range: span.range,
    totals: toTotals(totals),
    perDay: [...perDay].sort(([a], [b]) => a - b).map(([day, tally]) => ({ day: dayName(day), ...toTotals(tally) })),
    kinds: Object.fromEntries(byKind.map(({ kind, messages }) => [kind, messages])),
    tools: calls.sort((a, b) => b.calls - a.calls || (a.name < b.name ? -1 : 1)),
    models: Object.entries(totals.usage)
      .map(([model, usage]) => ({ model, usage, cost: totals.costOf([model]) }))
      .sort((a, b) => b.cost.microdollars - a.cost.microdollars || b.usage.output - a.usage.output),
    files,
    hours,
    sessions,
  };
}

/** In slices: there may be many sessions. */
async function toJson({ sessions, ...rest }: Omit<ProjectAnalytics, "project">): Promise<Buffer> {
  const pieces = [Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"sessions":[`)];
  for (const page of pages(sessions, PAGE)) {
    await yieldNow();
    pieces.push(Buffer.from((pieces.length > 1 ? "," : "") + JSON.stringify(page).slice(1, -1)));
  }
  return Buffer.concat([...pieces, Buffer.from("]}")]);
}

/** Those of a project that are wanted, newest first. */
async function readSessions(archive: Archive, project: string, wanted: ReadonlySet<string>): Promise<Session[]> {
  const found = new Map<string, Session>();
  for (let cursor: string | undefined, more = true; more; ) {
    await yieldNow();
    const { sessions, nextCursor } = await archive.page({ project, limit: PAGE }, cursor);
    for (const session of sessions) if (wanted.has(session.id)) found.set(session.id, session);
    cursor = nextCursor ?? undefined;
    more = cursor !== undefined;
  }
  // A session that grew meanwhile moved to the front of the first page.
  const moved: Session[] = [];
  for (const ids of pages(
    [...wanted].filter((id) => !found.has(id)),
    PAGE,
  ))
    moved.push(...(await archive.list({ ids })));
  return [...moved, ...found.values()];
}

function toTotals(tally: Tally): ProjectTotals {
  const { sessions, messages, activeMs, errors, usage, cost } = tally;
  return { sessions, messages, activeMs, errors, usage, cost };
}

const PAGE = 100;

/** There may be thousands of paths a session, and no other view needs them: they are JSON, which SQLite's own functions read in five times as long. */
async function touchedFiles(kernel: Kernel, ids: ReadonlySet<string>): Promise<ProjectAnalytics["files"]> {
  const files = new Map<string, ProjectFile>();
  for (const page of pages([...ids], PAGE)) {
    await yieldNow();
    const rows = await kernel.storage.db.all<{ cwd: string | null; at: string | null; files: string }>(
      `select s.cwd, coalesce(s.ended_at, s.started_at) as at, f.files from usage_files f join session s on s.id = f.session where f.session in (${marks(page)})`,
      page,
    );
    for (const row of rows) {
      const seen = new Set<ProjectFile>();
      eachFile(row.files, (named, reads, edits) => {
        const path = placedIn(named, row.cwd);
        let file = files.get(path);
        if (!file) {
          // A copy: a piece of the row's text would keep all of it.
          const own = Buffer.from(path).toString();
          file = { path: own, reads: 0, edits: 0, sessions: 0, lastAt: null };
          files.set(own, file);
        }
        file.reads += reads;
        file.edits += edits;
        if (seen.has(file)) return;
        seen.add(file);
        file.sessions++;
        if (row.at !== null && (file.lastAt === null || row.at > file.lastAt)) file.lastAt = row.at;
      });
    }
  }
  return [...files.values()]
    .sort((a, b) => b.edits + b.reads - (a.edits + a.reads) || b.edits - a.edits || (a.path < b.path ? -1 : 1))
    .slice(0, FILES);
}

/** Calls back for each `"path":[reads,edits]`. Thousands of names as keys of objects that are thrown away would take three times as long. */
function eachFile(json: string, use: (path: string, reads: number, edits: number) => void): void {
  if (json.includes("\\")) {
    const touched = JSON.parse(json) as Record<string, [number, number]>;
    for (const [path, [reads, edits]] of Object.entries(touched)) use(path, reads, edits);
    return;
  }
  // Without escapes a quote ends a name, and a name ends with a quote.
  for (let start = json.indexOf('"'); start >= 0; ) {
    const end = json.indexOf('"', start + 1);
    const comma = json.indexOf(",", end);
    const close = json.indexOf("]", comma);
    use(json.slice(start + 1, end), Number(json.slice(end + 3, comma)), Number(json.slice(comma + 1, close)));
    start = json.indexOf('"', close);
  }
}
