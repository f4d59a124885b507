/** GET /projects/activity: how busy every project was, day by day; what a list of projects draws beside their names. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import { eachIn } from "../figures/add.ts";
import type { Run } from "../figures/block.ts";
import type { Blocks } from "../figures/blocks.ts";
import { type DayRange, dayName, inRange, lastDays, type Zone, zoneOf } from "../figures/buckets.ts";
import { days, type Range } from "../figures/range.ts";
import { keptOfRuns } from "../figures/shares.ts";
import { at, Heads, visit } from "../figures/tally.ts";

export interface ProjectActivity {
  id: string;
  /** One figure per day of the range, oldest first. Sub-agents count with the session that started them. */
  sessions: number[];
  messages: number[];
}
export interface Activity {
  range: Range;
  /** Projects with something in the range, in no order. */
  projects: ProjectActivity[];
}

const DAYS = 30;

const get = defineRoute({
  method: "GET",
  path: "/projects/activity",
  summary: "Sessions and messages of every project, day by day",
  query: v.object({
    /** Local days up to today; default 30. */
    days,
    /** Zone whose days count; default this machine's. */
    tz: v.optional(v.string()),
  }),
  handler: async ({ kernel, query }): Promise<Activity> => {
    const { cube, answers } = kernel.inject("insights");
    const zone = zoneOf(query.tz);
    const { from, to } = lastDays(query.days ?? DAYS, zone.dayAt(Date.now()));
    const range = { days: to - from + 1, from: dayName(from), to: dayName(to) };
    const { generation, blocks } = await cube.figures();
    const question = JSON.stringify(["activity", range, zone.name]);
    const projects = await answers.get(question, generation, () => activity(blocks, zone, from, to));
    return { range, projects };
  },
});

export const activityRoutes = [get] as const;

/** What a project had on a day: messages, and the sessions. */
class Busy {
  messages = 0;
  readonly heads = new Heads();
}
/** By project and day. */
type BusyDays = ReadonlyMap<string, ReadonlyMap<number, Busy>>;

/** Of runs, in the zone that was asked for last: mostly everybody asks for the same one. */
let kept: { zone: Zone; of: (blocks: Blocks, run: Run) => BusyDays | undefined } | undefined;

function busyDaysOf(zone: Zone): (blocks: Blocks, run: Run) => BusyDays | undefined {
  if (kept?.zone === zone) return kept.of;
  const always = { from: null, to: null };
  const of = keptOfRuns<BusyDays>(
    (blocks, n) => {
      const days = new ProjectDays();
      for (let i = 0; i < blocks.block(n).length; i++) days.put(blocks, n, i, zone, always);
      return days.projects;
    },
    (parts) => {
      const days = new ProjectDays();
      for (const part of parts) days.add(part, always);
      return days.projects;
    },
  );
  kept = { zone, of };
  return of;
}

class ProjectDays {
  readonly projects = new Map<string, Map<number, Busy>>();

  /** What of the session at `i` of the block `n` lies in the range. */
  put(blocks: Blocks, n: number, i: number, zone: Zone, range: DayRange): void {
    const session = blocks.session(n, i);
    const root = blocks.rootOf(n, i);
    const touched = new Set<number>();
    const touch = (day: number, messages: number) => {
      const busy = this.#at(session.project, day);
      busy.messages += messages;
      if (touched.has(day)) return;
      touched.add(day);
      busy.heads.count(root);
    };
    visit(
      session,
      zone,
      range,
      (day, _, messages) => touch(day, messages),
      (_, day) => touch(day, 0),
    );
  }
  add(other: BusyDays, range: DayRange): void {
    for (const [project, days] of other)
      for (const [day, { messages, heads }] of days) {
        if (!inRange(day, range)) continue;
        const busy = this.#at(project, day);
        busy.messages += messages;
        busy.heads.add(heads);
      }
  }

  #at(project: string, day: number): Busy {
    const days = at(this.projects, project, () => new Map());
    return at(days, day, () => new Busy());
  }
}

async function activity(blocks: Blocks, zone: Zone, from: number, to: number): Promise<ProjectActivity[]> {
  const range = { from, to };
  const days = new ProjectDays();
  const busyDays = busyDaysOf(zone);
  await eachIn(blocks, zone, range, (_, { n, i }) => days.put(blocks, n, i, zone, range), {
    useRun(run) {
      const own = busyDays(blocks, run);
      if (own) days.add(own, range);
      return own !== undefined;
    },
  });
  const length = to - from + 1;
  return [...days.projects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, own]) => {
      const figures = (of: (busy: Busy) => number) =>
        Array.from({ length }, (_, i) => {
          const busy = own.get(from + i);
          return busy ? of(busy) : 0;
        });
      return { id, messages: figures(({ messages }) => messages), sessions: figures(({ heads }) => heads.size) };
    });
}
