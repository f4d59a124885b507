/** Differences as people read them, with their sign. */
import { duration, money, percent } from "../format.ts";
import { number, t } from "../i18n/index.ts";

function signed(difference: number, show: (size: number) => string): string {
  const shown = show(Math.abs(difference));
  return shown === show(0) ? t("delta.same") : `${difference > 0 ? "+" : "−"}${shown}`;
}

export const changeOf = {
  count: (now: number, before: number) => signed(now - before, (size) => number(size)),
  time: (now: number, before: number) => signed(now - before, duration),
  money: (now: number, before: number) => signed(now - before, money),
  /** By how many hundredths more; what was nothing before is new. */
  share: (now: number, before: number) =>
    before === 0
      ? now === 0
        ? t("delta.same")
        : t("delta.new")
      : signed((now - before) / before, (size) => percent(size, 0)),
  /** Of two shares, in points. */
  points: (now: number, before: number) =>
    signed((now - before) * 100, (size) => t("delta.points", { n: number(size, { maximumFractionDigits: 1 }) })),
};
