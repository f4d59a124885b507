/** Figures as people read them. Components show them through Num, Money and Ago only. */
import { language, number, t } from "./i18n/index.ts";

export interface Cost {
  microdollars: number;
  pricedAt: string;
  unpriced: string[];
  atStandard?: string[] | undefined;
}

/** `18.4M` */
export const short = (value: number): string => number(value, { notation: "compact", maximumFractionDigits: 1 });

export const percent = (share: number, digits = 1): string =>
  number(share, { style: "percent", maximumFractionDigits: digits });

export function money(microdollars: number): string {
  const dollars = microdollars / 1e6;
  if (dollars > 0 && dollars < 0.01)
    return `<${number(0.01, { style: "currency", currency: "USD", currencyDisplay: "narrowSymbol" })}`;
  return number(dollars, {
    style: "currency",
    currency: "USD",
    currencyDisplay: "narrowSymbol",
    minimumFractionDigits: 2,
    maximumFractionDigits: 2,
  });
}

/** `41 h`, `6 h 05 m`, `3 m`, `12 s` */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return t("time.seconds", { s: seconds });
  const minutes = Math.round(seconds / 60);
  if (minutes < 60) return t("time.minutes", { m: minutes });
  const hours = Math.floor(minutes / 60);
  if (hours >= 24) return t("time.hours", { h: Math.round(minutes / 60) });
  return t("time.hoursMinutes", { h: hours, m: String(minutes % 60).padStart(2, "0") });
}

export function bytes(value: number): string {
  const units = ["B", "kB", "MB", "GB"];
  let at = 0;
  let n = value;
  while (n >= 1000 && at < units.length - 1) {
    n /= 1000;
    at++;
  }
  return `${number(n, { maximumFractionDigits: n < 10 && at > 0 ? 1 : 0 })} ${units[at]}`;
}

const dates = new Map<string, Intl.DateTimeFormat>();
export function date(value: string | number | Date, options: Intl.DateTimeFormatOptions): string {
  const key = language.value + JSON.stringify(options);
  let format = dates.get(key);
  if (!format) {
    format = new Intl.DateTimeFormat(language.value, { hourCycle: "h23", ...options });
    dates.set(key, format);
  }
  return format.format(typeof value === "string" ? new Date(value) : value);
}

export const clock = (value: string | number): string => date(value, { hour: "2-digit", minute: "2-digit" });
export const clockSeconds = (value: string | number): string =>
  date(value, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const fullTime = (value: string | number): string => date(value, { dateStyle: "full", timeStyle: "medium" });
/** `3 Nov 13:36`, with the year where it is another one. */
export function dateTime(value: string | number, now = Date.now()): string {
  const isThisYear = new Date(value).getFullYear() === new Date(now).getFullYear();
  return date(value, {
    day: "numeric",
    month: "short",
    ...(!isThisYear && { year: "numeric" }),
    hour: "2-digit",
    minute: "2-digit",
  });
}
export const dayLabel = (value: string | number | Date): string => date(value, { day: "numeric", month: "short" });

const DAY = 86_400_000;
/** Local `2026-11-20`. */
export function dayOf(value: string | number | Date): string {
  const d = new Date(value);
  return `${d.getFullYear()}-${String(d.getMonth() + 1).padStart(2, "0")}-${String(d.getDate()).padStart(2, "0")}`;
}

/** When a local day begins, in UTC; `add` days later. */
export function dayStart(day: string, add = 0): string {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date + add).toISOString();
}
/** `3 – 5 Nov`; one day alone as itself, and the year where it is not this one. */
export function daysLabel(from: string, to: string, now = Date.now()): string {
  const thisYear = String(new Date(now).getFullYear());
  const options: Intl.DateTimeFormatOptions = { day: "numeric", month: "short" };
  if (!from.startsWith(thisYear) || !to.startsWith(thisYear)) options.year = "numeric";
  const [first, last] = [new Date(`${from}T12:00`), new Date(`${to}T12:00`)];
  // Invalid dates typed into the address.
  if (Number.isNaN(first.getTime()) || Number.isNaN(last.getTime()) || first > last) return `${from} – ${to}`;
  return new Intl.DateTimeFormat(language.value, options).formatRange(first, last);
}

/** `20:24` today, `Thu` this week, `12 Nov` this year, `12 Nov 2024` before. */
export function compactTime(value: string, now = Date.now()): string {
  const at = Date.parse(value);
  if (dayOf(at) === dayOf(now)) return clock(at);
  if (now - at < 6 * DAY && now >= at) return date(at, { weekday: "short" });
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
  return date(at, sameYear ? { day: "numeric", month: "short" } : { day: "numeric", month: "short", year: "numeric" });
}

/** The same with the hour in the last days: `20:24` today, `Thu 20:24` this week. */
export function nearTime(value: string, now = Date.now()): string {
  const at = Date.parse(value);
  if (dayOf(at) === dayOf(now) || now - at >= 6 * DAY || now < at) return compactTime(value, now);
  return `${date(at, { weekday: "short" })} ${clock(at)}`;
}

/** `2 min ago`, in words of the language. */
export function ago(value: string | number, now = Date.now()): string {
  const at = typeof value === "string" ? Date.parse(value) : value;
  const seconds = Math.round((at - now) / 1000);
  const relative = new Intl.RelativeTimeFormat(language.value, { numeric: "auto", style: "short" });
  const steps: [Intl.RelativeTimeFormatUnit, number][] = [
    ["day", 86_400],
    ["hour", 3_600],
    ["minute", 60],
  ];
  for (const [unit, size] of steps)
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  return t("time.now");
}

/** Heading of a day in a ledger. */
export function dayHeading(day: string, now = Date.now()): string {
  const today = dayOf(now);
  if (day === today) return t("time.today");
  if (day === dayOf(now - DAY)) return t("time.yesterday");
  const isThisYear = day.startsWith(today.slice(0, 4));
  return date(`${day}T12:00:00`, {
    weekday: "long",
    day: "numeric",
    month: "long",
    ...(!isThisYear && { year: "numeric" }),
  });
}

/** The path from a folder on; undefined for one that is not below it. */
export const pathIn = (folder: string | null | undefined, path: string): string | undefined =>
  folder && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;

/** Keeps both ends of a long path. */
export function middle(path: string, max = 42): string {
  if (path.length <= max) return path;
  const tail = Math.ceil(max * 0.6);
  return `${path.slice(0, max - tail - 1)}…${path.slice(-tail)}`;
}

export const titleOf = (session: {
  name: string | null;
  title: string | null;
  firstPrompt: string | null;
  id: string;
}): string =>
  oneLine(session.name ?? session.title ?? session.firstPrompt ?? t("session.untitled", { id: idEnd(session.id) }));

/** The service names a project without a folder after its assistant, in English. */
export function projectName(name: string): string {
  const tool = /^(.+) \(no folder\)$/.exec(name)?.[1];
  return tool === undefined ? name : t("project.noFolder", { tool });
}

/** The first eight characters of an id behind its tool. */
const idEnd = (id: string) => id.slice(id.indexOf(":") + 1).slice(0, 8);

export const oneLine = (text: string): string => honest(text.replace(/\s+/g, " ").trim().slice(0, 300));

/** A name as it is spelled: what turns its letters round would let it pass for another one. */
export const honest = (name: string): string => name.replace(/[\u202d\u202e]/g, "\ufffd");
