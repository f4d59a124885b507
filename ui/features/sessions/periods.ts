/** Names of the times in a list by time: Today, Yesterday, This week, Last week, then the months. */
import { date, dayOf, dayStart } from "../../format.ts";
import { t } from "../../i18n/index.ts";
import type { Session } from "../../wire.ts";
import type { Sort } from "./columns.ts";
import { sessionsText } from "./words/index.ts";

/** The name of the period above each row that begins one; none where the list is not by time. */
export function toPeriods(sessions: readonly Session[], sort: Sort, now = Date.now()): ReadonlyMap<number, string> {
  const heads = new Map<number, string>();
  if (sort !== "recent" && sort !== "oldest") return heads;
  const nameOf = periodsFrom(now);
  let last = "";
  for (const [index, { endedAt, startedAt }] of sessions.entries()) {
    const name = nameOf(endedAt ?? startedAt);
    if (name !== last) heads.set(index, name);
    last = name;
  }
  return heads;
}

/** Weeks begin on Monday, as in Usage. */
function periodsFrom(now: number): (at: string | null) => string {
  const today = dayOf(now);
  const yesterday = dayOf(dayStart(today, -1));
  const monday = -((new Date(now).getDay() + 6) % 7);
  const week = dayOf(dayStart(today, monday));
  const lastWeek = dayOf(dayStart(today, monday - 7));
  return (at) => {
    if (at === null) return sessionsText("period.none");
    const day = dayOf(at);
    if (day === today) return t("time.today");
    if (day === yesterday) return t("time.yesterday");
    if (day >= week && day < today) return sessionsText("period.week");
    if (day >= lastWeek && day < week) return sessionsText("period.lastWeek");
    const isThisYear = day.startsWith(today.slice(0, 4));
    return date(at, { month: "long", ...(!isThisYear && { year: "numeric" }) });
  };
}
