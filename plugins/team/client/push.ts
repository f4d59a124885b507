/**
 * A push: what the server lacks of the chosen projects. Nothing is remembered but what saves work: the server is asked for everything it has, so one
 * that was restored from a backup gets back what it lost, and a push that was killed goes on where it was, in the middle of a session.
 */
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { isSessarcError, type Kernel, type SessarcError, toMessage } from "sessarc";
import { findRefusal, type TeamApi, TOGETHER } from "./api.ts";
import { type Staged, stage, toStamp } from "./stage.ts";
import type { Candidate, MovedSession, PushedRow, Server, TeamStore } from "./store.ts";

export interface PushOptions {
  /** Ids of projects; default: all chosen ones. */
  projects?: readonly string[] | undefined;
  /** Sessions; default: all of the projects. */
  sessions?: readonly string[] | undefined;
  /** ms: sessions that ended before are left out. */
  since?: number | undefined;
  dryRun?: boolean | undefined;
  /** Withdrawn sessions, too. */
  again?: boolean | undefined;
}

type PushOutcome = "pushed" | "unchanged" | "failed" | "withdrawn" | "would-push";

export interface PushedSession {
  id: string;
  outcome: PushOutcome;
  title: string | null;
  project: string;
  space: number;
  messages: number;
  /** That are sent, compressed. */
  bytes: number;
  masked: Record<string, number>;
  doubtful: Staged["doubtful"];
  unchecked: number;
  problem: { code: string; message: string; fix: string | null } | null;
}

export interface PushReport {
  address: string;
  dryRun: boolean;
  /** False: the server was not reached, so what it lacks is not known; a preview shows everything. */
  asked: boolean;
  pushed: number;
  unchanged: number;
  withdrawn: number;
  failed: { id: string; code: string; message: string; fix: string | null }[];
  messages: number;
  bytes: number;
  /** Masked places by rule. */
  masked: Record<string, number>;
  /** Masked on a guess: to be checked by the user. */
  doubtful: (Staged["doubtful"][number] & { session: string })[];
  unchecked: number;
  /** Sessions that were pushed, and count to a project now from which nothing is pushed: the server keeps what it has of them. */
  moved: MovedSession[];
  cancelled: boolean;
}

export type PushFrame =
  | { type: "progress"; done: number; total: number; current: string | null }
  | { type: "session"; session: PushedSession };

interface PushParts {
  kernel: Kernel;
  store: TeamStore;
  server: Server;
  api: TeamApi;
  /** Pieces wait here. */
  outbox: string;
  signal: AbortSignal;
  onFrame(frame: PushFrame): void;
}

/** Sessions that are prepared and sent at once. */
const LANES = 3;
/** Moved sessions of a report. */
const MOST_MOVED = 200;
/** Doubtful places of a report. */
const MOST_DOUBTFUL = 200;

export async function push(parts: PushParts, options: PushOptions): Promise<PushReport> {
  const { server, outbox, signal, onFrame } = parts;
  const report: PushReport = {
    address: server.address,
    dryRun: options.dryRun === true,
    asked: true,
    pushed: 0,
    unchanged: 0,
    withdrawn: 0,
    failed: [],
    messages: 0,
    bytes: 0,
    masked: {},
    doubtful: [],
    unchecked: 0,
    moved: (await parts.store.moved(server.address)).slice(0, MOST_MOVED),
    cancelled: false,
  };
  // What a kill left there.
  await rm(outbox, { recursive: true, force: true });
  // Asked before anything is redacted: what is redacted by newer rules meanwhile is pushed again at the next time, never the other way round.
  const version = await parts.kernel.inject("redactor").piecesVersion();
  const open = await toPush(parts, options, report, version);
  let done = 0;
  const queue = open.values();
  const lane = async () => {
    for (const one of queue) {
      if (signal.aborted) return;
      onFrame({ type: "progress", done, total: open.length, current: one.id });
      const session = await pushOne(parts, one, options, report.asked, version);
      if (!session) return;
      done++;
      add(report, session);
      onFrame({ type: "session", session });
    }
  };
  // A lane that ends early, because the server is gone, ends the push; what was sent stays.
  const outcomes = await Promise.allSettled(Array.from({ length: LANES }, lane));
  await rm(outbox, { recursive: true, force: true });
  report.cancelled = signal.aborted;
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed && !signal.aborted) throw failed.reason;
  onFrame({ type: "progress", done, total: open.length, current: null });
  return report;
}

/** Sessions that changed, or that the server lacks. */
async function toPush(
  parts: PushParts,
  options: PushOptions,
  report: PushReport,
  version: string,
): Promise<Candidate[]> {
  const { store, server, api } = parts;
  const only = options.sessions && new Set(options.sessions);
  const projects = options.projects && new Set(options.projects);
  const all = await store.candidates(server.address, options.since ?? Number.MIN_SAFE_INTEGER, options.again === true);
  const chosen = all.filter((one) => (!only || only.has(one.id)) && (!projects || projects.has(one.project_id)));
  const pushed = await store.pushed(server.address);
  const open: Candidate[] = [];
  const known: { one: Candidate; row: PushedRow }[] = [];
  for (const one of chosen) {
    const row = pushed.get(one.id);
    if (row && row.stamp === toStamp(one, server.machine, version)) known.push({ one, row });
    else open.push(one);
  }
  try {
    for (let at = 0; at < known.length; at += TOGETHER) {
      const some = known.slice(at, at + TOGETHER);
      const asked = some.map(({ one, row }) => ({ id: row.pushed_id, digest: row.digest, space: one.space }));
      const { missing, withdrawn } = await api.ask("POST /have", { body: { sessions: asked } });
      const lacks = new Set(missing);
      const gone = new Set(withdrawn);
      for (const { one, row } of some) {
        if (lacks.has(row.pushed_id) || (options.again && gone.has(row.pushed_id))) open.push(one);
        else if (gone.has(row.pushed_id)) report.withdrawn++;
        else report.unchanged++;
      }
    }
  } catch (error) {
    if (!report.dryRun || !isUnreachable(error)) throw error;
    report.asked = false;
    open.push(...known.map(({ one }) => one));
    report.unchanged = 0;
    report.withdrawn = 0;
  }
  return open.sort((a, b) => a.sort_at - b.sort_at || (a.id < b.id ? -1 : 1));
}

/** Undefined when the push was cancelled meanwhile. Throws when the server is gone: the next session would fail as well. */
async function pushOne(
  parts: PushParts,
  one: Candidate,
  options: PushOptions,
  asked: boolean,
  version: string,
): Promise<PushedSession | undefined> {
  const { kernel, server, outbox, signal } = parts;
  const session: PushedSession = {
    id: one.id,
    outcome: options.dryRun ? "would-push" : "pushed",
    title: one.name ?? one.title,
    project: one.project_name,
    space: one.space,
    messages: 0,
    bytes: 0,
    masked: {},
    doubtful: [],
    unchecked: 0,
    problem: null,
  };
  const folder = join(outbox, createHash("sha256").update(one.id).digest("hex").slice(0, 32));
  let staged: Staged | undefined;
  try {
    staged = await stage(kernel, one, server.machine, folder, signal);
    session.messages = staged.messages;
    session.masked = staged.masked;
    session.doubtful = staged.doubtful;
    session.unchecked = staged.unchecked;
    const missing = asked ? await parts.api.missingBlobs([...staged.pieces.keys()]) : new Set(staged.pieces.keys());
    for (const sha256 of missing) session.bytes += staged.pieces.get(sha256) ?? 0;
    if (!options.dryRun) session.outcome = await send(parts, one, staged, missing, options.again === true, version);
    return session;
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!isOfSession(error)) throw error;
    if (findRefusal(error) === "TEAM_WITHDRAWN") return { ...session, outcome: "withdrawn", bytes: 0 };
    // Deleted meanwhile: there is nothing to push.
    if (isSessarcError(error) && error.code === "SESSION_NOT_FOUND")
      return { ...session, outcome: "unchanged", bytes: 0 };
    const { code, fix } = error;
    return { ...session, outcome: "failed", problem: { code, message: toMessage(error), fix: fix ?? null } };
  } finally {
    await staged?.remove();
  }
}

/** Sends what is missing, then the manifest. A chunk that the server lost in between is sent again. */
async function send(
  { api, store, server }: PushParts,
  one: Candidate,
  staged: Staged,
  missing: ReadonlySet<string>,
  again: boolean,
  version: string,
): Promise<PushOutcome> {
  const put = async (names: Iterable<string>) => {
    for (const sha256 of names)
      await api.ask("PUT /blobs/:sha256", { params: { sha256 }, body: new Uint8Array(await staged.read(sha256)) });
  };
  await put(missing);
  const stored = () => api.session(one.space, staged.manifest, again);
  const outcome = await stored().catch(async (error: unknown) => {
    if (findRefusal(error) !== "TEAM_BLOBS_MISSING") throw error;
    await put(await api.missingBlobs([...staged.pieces.keys()]));
    return stored();
  });
  await store.notePushed(server.address, {
    session_id: one.id,
    project_id: one.project_id,
    pushed_id: staged.manifest.id,
    stamp: toStamp(one, server.machine, version),
    digest: staged.digest,
  });
  return outcome === "unchanged" ? "unchanged" : "pushed";
}

function add(report: PushReport, session: PushedSession): void {
  const { id, outcome, problem, messages, bytes, masked, doubtful, unchecked } = session;
  if (problem) report.failed.push({ id, ...problem });
  if (outcome === "unchanged") report.unchanged++;
  if (outcome === "withdrawn") report.withdrawn++;
  if (outcome !== "pushed" && outcome !== "would-push") return;
  report.pushed++;
  report.messages += messages;
  report.bytes += bytes;
  report.unchecked += unchecked;
  for (const [rule, count] of Object.entries(masked)) report.masked[rule] = (report.masked[rule] ?? 0) + count;
  for (const one of doubtful) if (report.doubtful.length < MOST_DOUBTFUL) report.doubtful.push({ ...one, session: id });
}

const isUnreachable = (error: unknown) => isSessarcError(error) && error.code === "TEAM_UNREACHABLE";

/** Where the machine has no access, or the server has no room, every session would fail. */
function isOfSession(error: unknown): error is SessarcError {
  return (
    isSessarcError(error) && error.status < 500 && error.code !== "TEAM_NO_ACCESS" && findRefusal(error) !== "TEAM_FULL"
  );
}
