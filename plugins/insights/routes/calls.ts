/** GET /insights/calls: calls that failed or took long. The catalogue says which sessions have such calls; only those of a page are read. */

import { defineRoute, invalidCursor, isSessarcError, type Kernel } from "sessarc";
import * as v from "valibot";
import { inRange, toZone } from "../figures/buckets.ts";
import type { TroubledCall } from "../figures/calls.ts";
import { calling, type Ended, readCalls } from "../figures/questions.ts";
import { type Range, rangeQuery, toSpan } from "../figures/range.ts";

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
  /** Null after the last session. A page may be empty and not the last: none of its sessions had a slow call. */
  nextCursor: string | null;
  /** End of the last session that was read; null after the last one. */
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
  meta: { team: true },
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
    const { answer } = kernel.inject("insights");
    const { db } = kernel.storage;
    const archive = kernel.inject("archive");
    const { name, tool, session, slow } = query;
    if (tool !== undefined) await archive.checkTool(tool);
    const zone = toZone(query.tz);
    const span = toSpan(query, zone, Date.now());
    const projects = query.project === undefined ? undefined : await archive.projectIds(query.project);
    const scope = { zone, range: span, choice: { tool, projects, only: session } };
    const failed = slow === undefined;
    const { order, names } = await answer(["calls", name, failed], scope, async (asked) => {
      const [order, names] = await Promise.all([calling(db, asked, name, failed), readCalls(db, asked)]);
      names.sort((a, b) => b.errors - a.errors || b.calls - a.calls || (a.name < b.name ? -1 : 1));
      return { order, names };
    });
    const from = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const passes = (call: TroubledCall) =>
      (name === undefined || call.name === name) &&
      (call.failed ? query.failed !== "0" || (slow !== undefined && (call.ms ?? 0) >= slow) : slow !== undefined) &&
      (call.at === null || inRange(zone.dayAt(Date.parse(call.at)), span));
    return { range: span.range, names, ...(await page(kernel, order, from, query.limit ?? LIMIT, slow, passes)) };
  },
});

export const callRoutes = [get] as const;

/** Where a page ended: at this call of this session; seq 0: the whole session was read. */
interface Place extends Ended {
  seq: number;
}

const toCursor = ({ ended, seq, id }: Place) => `${ended}:${seq}:${id}`;

function readCursor(cursor: string): Place {
  const [, ended, seq, id] = /^(-?\d{1,16}):(\d{1,9}):(.+)$/s.exec(cursor) ?? [];
  if (id !== undefined) return { ended: Number(ended), seq: Number(seq), id };
  throw invalidCursor();
}

async function page(
  kernel: Kernel,
  order: readonly Ended[],
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
    nextCursor: toCursor(place),
    lookedBackTo: new Date(place.ended).toISOString(),
  });
  let read = 0;
  for (const { id, ended } of order.slice(from ? behindIn(order, from) : 0)) {
    if (read++ === READ && last) return stop(last);
    const row = await archive.find(id);
    if (!row) continue;
    const head = { sessionId: id, tool: row.tool, title: row.name ?? row.title ?? row.firstPrompt };
    const found = await troubled(row, slow).catch((error: unknown) => {
      if (!isSessarcError(error) || error.code !== "TRANSCRIPT_DAMAGED") throw error;
      damaged++;
      return [];
    });
    const own = found.filter((call) => passes(call) && (id !== from?.id || call.seq < from.seq));
    for (const call of own) {
      if (calls.length === limit && last) return stop(last);
      calls.push({ ...call, ...head, projectId: row.projectId });
      last = { id, ended, seq: call.seq };
    }
    last = { id, ended, seq: 0 };
  }
  return { calls, damaged, nextCursor: null, lookedBackTo: null };
}

/** Where the session of `place` stands, or what comes behind it. */
function behindIn(order: readonly Ended[], place: Ended): number {
  const at = order.findIndex((one) => one.ended < place.ended || (one.ended === place.ended && one.id >= place.id));
  return at < 0 ? order.length : at;
}
