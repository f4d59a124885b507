/** What Now says in one line each, asked for once the sessions are on show. */
import { useQuery } from "@pinia/colada";
import { api } from "../../client.ts";
import { dayOf, dayStart } from "../../format.ts";
import { usePoll } from "../../state/poll.ts";
import { lastWeek } from "../../state/range.ts";
import { ifServed } from "../../state/served.ts";
import { lastVisit } from "./visit.ts";

const POLL_MS = 60_000;

/** From Monday to today, as the budgets of a week count. */
export function thisWeek(now = Date.now()): { from: string; to: string; tz: string } {
  const today = new Date(now);
  const monday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - ((today.getDay() + 6) % 7), 12);
  return { from: dayOf(monday), to: dayOf(now), tz: Intl.DateTimeFormat().resolvedOptions().timeZone };
}

export function useLines() {
  const asked = <T>(key: string, query: (signal: AbortSignal) => Promise<T>) =>
    useQuery({ key: ["now", key], query: ({ signal }) => query(signal) });
  const insights = asked(
    "insights",
    ifServed("GET /insights", null, (signal) =>
      api("GET /insights", { query: { ...thisWeek(), since: lastVisit ?? undefined }, signal }),
    ),
  );
  const lastWeeks = asked(
    "last-week",
    ifServed("GET /usage", null, (signal) =>
      api("GET /usage", { query: { by: "model", ...lastWeek(), tz: thisWeek().tz }, signal }),
    ),
  );
  const budgets = asked(
    "budgets",
    ifServed("GET /budgets", [], (signal) => api("GET /budgets", { signal })),
  );
  const limits = asked(
    "limits",
    ifServed("GET /limits", [], (signal) => api("GET /limits", { signal })),
  );
  const rescue = asked(
    "rescue",
    ifServed("GET /rescue", null, (signal) => api("GET /rescue", { query: {}, signal })),
  );
  const traces = asked(
    "traces",
    ifServed("GET /traces", null, (signal) => api("GET /traces", { query: { limit: 0 }, signal })),
  );
  const destroyed = asked(
    "destroyed",
    ifServed("GET /files/destroyed", null, (signal) =>
      api("GET /files/destroyed", { query: { since: dayStart(dayOf(Date.now())) }, signal }),
    ),
  );
  const all = [insights, lastWeeks, budgets, limits, rescue, traces, destroyed];
  usePoll(async () => {
    await Promise.all(all.filter(({ data }) => data.value !== undefined).map((one) => one.refresh()));
  }, POLL_MS);
  return { insights, lastWeeks, budgets, limits, rescue, traces, destroyed };
}
export type Lines = ReturnType<typeof useLines>;
