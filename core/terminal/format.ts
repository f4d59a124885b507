/** Numbers, sizes and times as people read them. */

/** 1234567 → 1,234,567. By hand: the first use of the locale's own formatter costs 30 ms. */
export const formatCount = (n: number) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");

/** 1,234 → 1.2K, 2,400,000 → 2.4M. */
export function formatShort(n: number): string {
  for (const [unit, size] of [
    ["B", 1e9],
    ["M", 1e6],
    ["K", 1e3],
  ] as const) {
    if (n >= size) return `${(n / size).toFixed(n / size < 10 ? 1 : 0)}${unit}`;
  }
  return String(n);
}

/** Bytes with a binary unit: `1.5 MiB`. */
export function formatBytes(n: number): string {
  if (n < 1024) return `${n} B`;
  const units = ["KiB", "MiB", "GiB", "TiB"];
  let value = n / 1024;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value.toFixed(value < 10 ? 1 : 0)} ${units[unit]}`;
}

/** Milliseconds in words: `12 s`, `3 min 20 s`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const DAY_MS = 86_400_000;

/** How long ago, for a list: `now`, `5 min`, `3 h`, `12 d`; the day where it is 30 days and more. Empty without a time. */
export function formatAge(iso: string | null | undefined, now = Date.now()): string {
  const at = Date.parse(iso ?? "");
  if (Number.isNaN(at)) return "";
  const ms = Math.max(0, now - at);
  if (ms < 60_000) return "now";
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / 3_600_000)} h`;
  if (ms < 30 * DAY_MS) return `${Math.floor(ms / DAY_MS)} d`;
  return formatDay(new Date(at));
}

const two = (n: number) => String(n).padStart(2, "0");

/** `2026-11-20` in this machine's zone. */
export const formatDay = (at: Date): string => `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;

/** `15:04` in this machine's zone; `2026-11-20 15:04` of another day than today. */
export function formatMoment(at: Date): string {
  const time = `${two(at.getHours())}:${two(at.getMinutes())}`;
  return at.toDateString() === new Date().toDateString() ? time : `${formatDay(at)} ${time}`;
}

/** Cost from micro-dollars; `<$0.01` where it would be rounded to nothing. */
export function formatMoney(microdollars: number): string {
  if (microdollars > 0 && microdollars < 5_000) return "<$0.01";
  const [dollars = "0", cents] = (microdollars / 1e6).toFixed(2).split(".");
  return `$${formatCount(Number(dollars))}.${cents}`;
}
