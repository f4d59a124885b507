/** The range of days a screen shows, in the URL: `?days=30`, or `?from=2026-11-03&to=2026-11-05` after a zoom. */
import { computed } from "vue";
import { dayOf, dayStart, daysLabel } from "../format.ts";
import { t } from "../i18n/index.ts";
import { useKeys } from "./keys.ts";
import { useQueryState, useWriteQuery } from "./query-state.ts";

export const RANGES = ["7", "30", "90", "all"] as const;
export type Days = (typeof RANGES)[number];

/** `forget`: what else of the URL means nothing in another range. */
export function useRange(forget: readonly string[] = []) {
  const write = useWriteQuery();
  const days = useQueryState<Days>("days", "30");
  const from = useQueryState("from", "");
  const to = useQueryState("to", "");
  const zoomed = computed(() => from.value !== "");
  const number = computed(() => (days.value === "all" ? undefined : Number(days.value)));
  const forgotten = () => Object.fromEntries(forget.map((name) => [name, undefined]));
  const set = (next: Days) =>
    write({ days: next === "30" ? undefined : next, from: undefined, to: undefined, ...forgotten() });
  function cycle(): void {
    if (zoomed.value) set(days.value);
    else set(RANGES[(RANGES.indexOf(days.value) + 1) % RANGES.length] ?? "30");
  }
  useKeys([{ keys: "d", label: "keys.range", run: cycle }]);
  return {
    days,
    from,
    to,
    zoomed,
    /** Days up to today; undefined is all time. */
    number,
    /** As the service is asked. */
    query: computed(() => ({
      ...(zoomed.value ? { from: from.value, to: to.value || undefined } : { days: number.value }),
      tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
    })),
    /** The same as times, for lists of sessions. */
    times: computed(() => {
      if (zoomed.value) return { after: dayStart(from.value), before: to.value ? dayStart(to.value, 1) : undefined };
      return { after: number.value === undefined ? undefined : dayStart(dayOf(Date.now()), 1 - number.value) };
    }),
    key: computed(() => (zoomed.value ? `${from.value}..${to.value}` : days.value)),
    label: computed(() =>
      zoomed.value
        ? daysLabel(from.value, to.value || dayOf(Date.now()))
        : number.value === undefined
          ? t("range.all")
          : t("range.days", { n: number.value }),
    ),
    set,
    zoom: (first: string, last: string) => write({ from: first, to: last, ...forgotten() }),
    reset: () => set(days.value),
  };
}
export type DayRange = ReturnType<typeof useRange>;

/** The smallest range that reaches back to a time. */
export const widened = (at: string | null, now = Date.now()): Days =>
  RANGES.find((one) => one !== "all" && at !== null && dayStart(dayOf(now), 1 - Number(one)) <= at) ?? "all";
