/** The range of days a screen shows, in the URL: `?days=30`, `?days=last-week`, or `?from=2026-11-03&to=2026-11-05` after a zoom. */
import { computed } from "vue";
import { dayOf, dayStart, daysLabel } from "../format.ts";
import { t } from "../i18n/index.ts";
import { useKeys } from "./keys.ts";
import { useQueryState, useWriteQuery } from "./query-state.ts";

/** `1` is today, a number that many days up to today, `last-week` the last whole week from Monday to Sunday. */
export const RANGES = ["1", "last-week", "7", "30", "90", "all"] as const;
export type Days = (typeof RANGES)[number];

/** Days of a range, both included; undefined is no bound. */
export interface Bounds {
  from?: string;
  to?: string;
}

export function lastWeek(now = Date.now()): Required<Bounds> {
  const today = new Date(now);
  const monday = today.getDate() - ((today.getDay() + 6) % 7);
  const day = (date: number) => dayOf(new Date(today.getFullYear(), today.getMonth(), date, 12));
  return { from: day(monday - 7), to: day(monday - 1) };
}

/** The days of a named range, as of now. */
export function boundsOf(days: Days): Bounds {
  if (days === "all") return {};
  if (days === "last-week") return lastWeek();
  const today = dayOf(Date.now());
  return { from: dayOf(dayStart(today, 1 - Number(days))), to: today };
}

export function daysWord(days: Days): string {
  if (days === "1") return t("range.today");
  if (days === "last-week") return t("range.lastWeek");
  return days === "all" ? t("range.all") : t("range.days", { n: Number(days) });
}

/** `forget`: what else of the URL means nothing in another range. `applies`: whether the screen shows a range now. */
export function useRange(forget: readonly string[] = [], applies = () => true) {
  const write = useWriteQuery();
  const days = useQueryState<Days>("days", "30");
  const from = useQueryState("from", "");
  const to = useQueryState("to", "");
  const zoomed = computed(() => from.value !== "");
  const bounds = computed(
    (): Bounds =>
      zoomed.value ? { from: from.value, ...(to.value !== "" && { to: to.value }) } : boundsOf(days.value),
  );
  const forgotten = () => Object.fromEntries(forget.map((name) => [name, undefined]));
  const set = (next: Days) =>
    write({ days: next === "30" ? undefined : next, from: undefined, to: undefined, ...forgotten() });
  function cycle(): void {
    if (zoomed.value) set(days.value);
    else set(RANGES[(RANGES.indexOf(days.value) + 1) % RANGES.length] ?? "30");
  }
  useKeys([{ keys: "d", label: "keys.range", when: applies, run: cycle }]);
  return {
    days,
    from,
    to,
    zoomed,
    bounds,
    /** As the service is asked. */
    query: computed(() => ({
      ...(zoomed.value || days.value === "last-week"
        ? { from: bounds.value.from, to: bounds.value.to }
        : { days: days.value === "all" ? undefined : Number(days.value) }),
      tz: Intl.DateTimeFormat().resolvedOptions().timeZone,
    })),
    /** The same as times, for lists of sessions. */
    times: computed(() => ({
      after: bounds.value.from === undefined ? undefined : dayStart(bounds.value.from),
      before: bounds.value.to === undefined ? undefined : dayStart(bounds.value.to, 1),
    })),
    key: computed(() => (zoomed.value ? `${from.value}..${to.value}` : days.value)),
    /** For a sentence. */
    label: computed(() => {
      if (!zoomed.value && days.value === "all") return t("range.all");
      if (!zoomed.value && days.value !== "last-week") return t("range.days", { n: Number(days.value) });
      return daysLabel(bounds.value.from ?? "", bounds.value.to ?? dayOf(Date.now()));
    }),
    set,
    zoom: (first: string, last: string) => write({ from: first, to: last, ...forgotten() }),
    reset: () => set(days.value),
  };
}
export type DayRange = ReturnType<typeof useRange>;

/** The smallest of some numbers of days that reaches back to a time. */
export const widened = (at: string | null, now = Date.now()): Days =>
  (["7", "30", "90"] as const).find((one) => at !== null && dayStart(dayOf(now), 1 - Number(one)) <= at) ?? "all";
