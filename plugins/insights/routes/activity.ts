/** GET /projects/activity: how busy every project was, day by day; what a list of projects draws beside their names. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import { dayName, lastDays, toZone } from "../figures/buckets.ts";
import { readWork, type WorkRow } from "../figures/questions.ts";
import { days, type Range } from "../figures/range.ts";
import { at } from "../figures/tally.ts";

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
  meta: { team: true },
  summary: "Sessions and messages of every project, day by day",
  query: v.object({
    /** Local days up to today; default 30. */
    days,
    /** Zone whose days count; default this machine's. */
    tz: v.optional(v.string()),
  }),
  handler: async ({ kernel, query }): Promise<Activity> => {
    const { answer } = kernel.inject("insights");
    const zone = toZone(query.tz);
    const { from, to } = lastDays(query.days ?? DAYS, zone.dayAt(Date.now()));
    const projects = await answer("activity", { zone, range: { from, to } }, async (asked) =>
      activity(await readWork(kernel.storage.db, asked, { key: "project", byDay: true }), from, to),
    );
    return { range: { days: to - from + 1, from: dayName(from), to: dayName(to) }, projects };
  },
});

export const activityRoutes = [get] as const;

function activity(work: readonly WorkRow[], from: number, to: number): ProjectActivity[] {
  const projects = new Map<string, { messages: number[]; roots: Set<string>[] }>();
  const length = to - from + 1;
  for (const { key: project, day, messages, root } of work) {
    const own = at(projects, project, () => ({
      messages: new Array<number>(length).fill(0),
      roots: Array.from({ length }, () => new Set<string>()),
    }));
    own.messages[day - from] = (own.messages[day - from] ?? 0) + messages;
    own.roots[day - from]?.add(root);
  }
  return [...projects]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, { messages, roots }]) => ({ id, messages, sessions: roots.map(({ size }) => size) }));
}
