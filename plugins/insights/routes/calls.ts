/** GET /insights/calls: calls that failed or took long. The catalogue says which sessions have such calls; only those of a page are read. */

import { defineRoute, isSessarcError, type Kernel } from "sessarc";
import * as v from "valibot";
import { invalidCursor, sortInSlices } from "#internal";
import { eachIn, type UseRun } from "../figures/add.ts";
import type { Origin } from "../figures/block.ts";
import type { Blocks } from "../figures/blocks.ts";
import { inRange, QUARTER_MS, type Zone, zoneOf } from "../figures/buckets.ts";
import type { TroubledCall } from "../figures/calls.ts";
import type { CubeSession } from "../figures/cube-session.ts";
import { type Range, rangeQuery, type Span, spanOf } from "../figures/range.ts";
import { keptOfRuns, sharesOf } from "../figures/shares.ts";

export interface CallEntry extends TroubledCall {
  sessionId: string;
  /** The assistant. */
  tool: string;
  /** Name of the session. */
  title: string | null;
  projectId: string;
}

export interface Calls {
  range: Range;
  /** The session that went on last first; in it the latest call first. */
  calls: CallEntry[];
  /** Sessions of the range by the name of the tool: its calls, and how many failed. Most failures first. */
  names: { name: string; calls: number; errors: number }[];
  /** Null when all was looked at. A page may be empty and not the last: that many sessions had no slow call. */
  nextCursor: string | null;
  /** End of the last session looked at; null when all was. */
  lookedBackTo: string | null;
  /** Sessions of this page whose transcript cannot be read: their calls are left out. */
  damaged: number;
}

const LIMIT = 100;
/** Transcripts read for one answer. */
const READ = 60;

const get = defineRoute({
  method: "GET",
  path: "/insights/calls",
  summary: "Calls that failed, or took longer than `slow` ms, newest sessions first",
  query: v.object({
    ...rangeQuery,
    /** Name of the called tool. */
    name: v.optional(v.pipe(v.string(), v.maxLength(300))),
    /** The assistant. */
    tool: v.optional(v.string()),
    /** Id, name or path. */
    project: v.optional(v.string()),
    session: v.optional(v.string()),
    /** ms: also calls that took so long; with `failed=0` those alone. */
    slow: v.optional(v.pipe(v.string(), v.regex(/^\d{1,9}$/, "must be milliseconds"), v.transform(Number))),
    failed: v.optional(v.picklist(["0", "1"])),
    limit: v.optional(
      v.pipe(
        v.string(),
        v.regex(/^\d{1,4}$/, "must be 1 to 1000"),
        v.transform(Number),
        v.minValue(1),
        v.maxValue(1000),
      ),
    ),
    cursor: v.optional(v.string()),
  }),
  handler: async ({ kernel, query }): Promise<Calls> => {
    const { cube, answers } = kernel.inject("insights");
    const archive = kernel.inject("archive");
    if (query.tool !== undefined) await archive.checkTool(query.tool);
    const zone = zoneOf(query.tz);
    const span = spanOf(query, zone, Date.now());
    const projects = query.project === undefined ? undefined : new Set(await archive.projectIds(query.project));
    const { generation, blocks } = await cube.figures();
    const { name, tool, session, slow } = query;
    const question = [
      "calls",
      span.range,
      zone.name,
      [...(projects ?? ["*"])],
      tool,
      session,
      name,
      slow !== undefined,
    ];
    const { order, names } = await answers.get(JSON.stringify(question), generation, () =>
      choose(
        blocks,
        zone,
        span,
        (origin) =>
          (tool === undefined || origin.tool === tool) && (projects === undefined || projects.has(origin.project)),
        (one) => session === undefined || one.id === session,
        (calls, errors, of) => (name === undefined || of === name) && (slow === undefined ? errors : calls) > 0,
        session === undefined && name === undefined && slow === undefined,
      ),
    );
    const from = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const passes = (call: TroubledCall) =>
      (name === undefined || call.name === name) &&
      (call.failed ? query.failed !== "0" || (slow !== undefined && (call.ms ?? 0) >= slow) : slow !== undefined) &&
      (call.at === null || inRange(zone.dayAt(Date.parse(call.at)), span));
    return { range: span.range, names, ...(await page(kernel, order, from, query.limit ?? LIMIT, slow, passes)) };
  },
});

export const callRoutes = [get] as const;

/** A session of the list: its end says where it stands. */
interface Stop {
  id: string;
  ended: number;
}

/** The same of sessions in which any call failed. */
const failing = keptOfRuns<readonly (Stop & { origin: number })[]>(
  (blocks, n) => {
    const { origin, length } = blocks.block(n);
    return Array.from({ length }, (_, i) => i).flatMap((i) => {
      const session = blocks.session(n, i);
      let failed = 0;
      session.eachTool((_, _calls, errors) => {
        failed += errors;
      });
      return failed > 0 && session.hasAny ? [{ ...stopOf(session), origin: origin[i] as number }] : [];
    });
  },
  (parts) => [...parts].flat(),
);

const stopOf = (session: CubeSession): Stop => ({
  id: session.id,
  ended: session.endedAt ?? (session.lastSlot ?? 0) * QUARTER_MS,
});

/** `isPlain`: of all sessions, those in which any call failed. */
async function choose(
  blocks: Blocks,
  zone: Zone,
  span: Span,
  accept: (origin: Origin) => boolean,
  passes: (session: CubeSession) => boolean,
  counts: (calls: number, errors: number, name: string) => boolean,
  isPlain: boolean,
): Promise<{ order: Stop[]; names: Calls["names"] }> {
  const order: Stop[] = [];
  const names = new Map<string, { calls: number; errors: number }>();
  const addCalls = (name: string, calls: number, errors: number) => {
    const known = names.get(name) ?? { calls: 0, errors: 0 };
    names.set(name, { calls: known.calls + calls, errors: known.errors + errors });
  };
  const look = (session: CubeSession) => {
    if (!passes(session)) return;
    let wanted = false;
    session.eachTool((name, calls, errors) => {
      wanted ||= counts(calls, errors, name);
      addCalls(name, calls, errors);
    });
    if (wanted) order.push(stopOf(session));
  };
  const useRun: UseRun = (run, accepts) => {
    const [stops, shares] = [failing(blocks, run), sharesOf(blocks, run)];
    if (!stops || !shares) return false;
    for (const stop of stops) if (accepts(stop.origin)) order.push(stop);
    for (const [origin, share] of shares)
      if (accepts(origin)) for (const [name, { calls, errors }] of share.calls) addCalls(name, calls, errors);
    return true;
  };
  await eachIn(blocks, zone, span, look, { accept, useRun: isPlain ? useRun : undefined });
  const sorted = await sortInSlices(order, (a, b) => b.ended - a.ended || (a.id < b.id ? -1 : 1));
  const ranked = [...names].map(([name, sums]) => ({ name, ...sums }));
  ranked.sort((a, b) => b.errors - a.errors || b.calls - a.calls || (a.name < b.name ? -1 : 1));
  return { order: sorted, names: ranked };
}

/** Where a page ended: at this call of this session; seq 0: all of it was looked at. */
interface Place extends Stop {
  seq: number;
}

const cursorOf = ({ ended, seq, id }: Place) => `${ended}:${seq}:${id}`;

function readCursor(cursor: string): Place {
  const [, ended, seq, id] = /^(-?\d{1,16}):(\d{1,9}):(.+)$/s.exec(cursor) ?? [];
  if (id !== undefined) return { ended: Number(ended), seq: Number(seq), id };
  throw invalidCursor();
}

async function page(
  kernel: Kernel,
  order: readonly Stop[],
  from: Place | undefined,
  limit: number,
  slow: number | undefined,
  passes: (call: TroubledCall) => boolean,
): Promise<Pick<Calls, "calls" | "nextCursor" | "lookedBackTo" | "damaged">> {
  const archive = kernel.inject("archive");
  const { troubled } = kernel.inject("insights");
  const calls: CallEntry[] = [];
  let last: Place | undefined;
  let damaged = 0;
  const stop = (place: Place) => ({
    ...{ calls, damaged },
    nextCursor: cursorOf(place),
    lookedBackTo: new Date(place.ended).toISOString(),
  });
  let read = 0;
  for (const { id, ended } of order.slice(from ? behindIn(order, from) : 0)) {
    if (read++ === READ && last) return stop(last);
    const row = await archive.find(id);
    if (!row) continue;
    const head = { sessionId: id, tool: row.tool, title: row.name ?? row.title ?? row.first_prompt };
    const found = await troubled(row, slow).catch((error: unknown) => {
      if (!isSessarcError(error) || error.code !== "TRANSCRIPT_DAMAGED") throw error;
      damaged++;
      return [];
    });
    const own = found.filter((call) => passes(call) && (id !== from?.id || call.seq < from.seq));
    for (const call of own) {
      if (calls.length === limit && last) return stop(last);
      calls.push({ ...call, ...head, projectId: row.project_id });
      last = { id, ended, seq: call.seq };
    }
    last = { id, ended, seq: 0 };
  }
  return { calls, damaged, nextCursor: null, lookedBackTo: null };
}

/** Where the session of `place` stands, or what comes behind it. */
function behindIn(order: readonly Stop[], place: Stop): number {
  const at = order.findIndex((one) => one.ended < place.ended || (one.ended === place.ended && one.id >= place.id));
  return at < 0 ? order.length : at;
}
