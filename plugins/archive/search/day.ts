/** Days as people write them. */

/** `2026-11-01` for that, for `20261101`, and for `7d`: seven days before today. Local days; undefined for an invalid day. */
export function readDay(text: string, now = new Date()): string | undefined {
  const ago = /^(\d{1,4})d$/.exec(text);
  if (ago) return toDay(new Date(now.getFullYear(), now.getMonth(), now.getDate() - Number(ago[1])));
  const parts = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(text);
  if (!parts) return undefined;
  const day = parts.slice(1).join("-");
  // Date takes the 31st of any month for a day of the next.
  return toDay(startOf(day)) === day ? day : undefined;
}

/** Local midnight of `2026-11-01`. `later`: days after it. */
export function startOf(day: string, later = 0): Date {
  const [year, month, date] = day.split("-").map(Number) as [number, number, number];
  return new Date(year, month - 1, date + later);
}

const toDay = (date: Date) =>
  [String(date.getFullYear()).padStart(4, "0"), date.getMonth() + 1, date.getDate()]
    .map((n) => String(n).padStart(2, "0"))
    .join("-");
