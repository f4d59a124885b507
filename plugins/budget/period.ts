/** Days, weeks and months on the clock of this machine. */
export const PERIODS = ["day", "week", "month"] as const;
export type Period = (typeof PERIODS)[number];

/** First and last day of the period that holds `now` (ms): a week goes by its Monday. */
export function periodAt(period: Period, now: number): { from: string; to: string } {
  const at = new Date(now);
  const [year, month, day] = [at.getFullYear(), at.getMonth(), at.getDate()];
  if (period === "day") return { from: name(year, month, day), to: name(year, month, day) };
  if (period === "month") return { from: name(year, month, 1), to: name(year, month + 1, 0) };
  const monday = day - ((at.getDay() + 6) % 7);
  return { from: name(year, month, monday), to: name(year, month, monday + 6) };
}

/** Days beyond a month's end are those of the next. At noon, which every day has. */
function name(year: number, month: number, day: number): string {
  const at = new Date(year, month, day, 12);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}
