/** GET /projects/activity: how busy every project was, day by day; what a list of projects draws beside their names. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import { eachIn } from "../figures/add.ts";
import type { Blocks } from "../figures/blocks.ts";
import { dayName, lastDays, type Zone, zoneOf } from "../figures/buckets.ts";
import { days, type Range } from "../figures/range.ts";
import { visit } from "../figures/tally.ts";

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

/** One pass over the quarter-hours. */
async function activity(blocks: Blocks, zone: Zone, from: number, to: number): Promise<ProjectActivity[]> {
  const length = to - from + 1;
  const found = new Map<string, { messages: number[]; roots: Set<string>[] }>();
  await eachIn(blocks, zone, { from, to }, (session) => {
    const touch = (day: number, messages: number) => {
      let project = found.get(session.project);
      if (!project) {
        project = { messages: new Array<number>(length).fill(0), roots: Array.from({ length }, () => new Set()) };
        found.set(session.project, project);
      }
      project.messages[day - from] = (project.messages[day - from] as number) + messages;
      project.roots[day - from]?.add(session.root);
    };
    visit(
      session,
      zone,
      { from, to },
      (day, _, messages) => touch(day, messages),
      (_, day) => touch(day, 0),
    );
  });
  return [...found]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { messages, roots }]) => ({ id, messages, sessions: roots.map((set) => set.size) }));
}
