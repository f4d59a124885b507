/** The limits that Codex logs beside its counts of tokens. */
import { describe, expect, it } from "vitest";
import { createLimits } from "../../plugins/codex/limits.ts";

const AT = "2026-11-20T09:10:00.000Z";
const seconds = Date.parse(AT) / 1000;

describe("limits in a rollout", () => {
  it("are read with the time or the seconds to the reset, and lengths that versions round down", () => {
    const limits = createLimits();
    limits.add({ primary: { used_percent: 12.5, window_minutes: 299, resets_at: seconds + 60 } }, AT);
    limits.add({ secondary: { used_percent: 40, window_minutes: 10_079, resets_in_seconds: 120 } }, AT);
    expect(limits.list()).toEqual([
      { minutes: 300, at: AT, usedPercent: 12.5, resetsAt: "2026-11-20T09:11:00.000Z" },
      { minutes: 10_080, at: AT, usedPercent: 40, resetsAt: "2026-11-20T09:12:00.000Z" },
    ]);
  });

  it("keep the last reading of a quarter-hour", () => {
    const limits = createLimits();
    const reading = (used_percent: number) => ({ primary: { used_percent, window_minutes: 300, resets_at: seconds } });
    limits.add(reading(1), AT);
    limits.add(reading(2), "2026-11-20T09:14:00.000Z");
    limits.add(reading(3), "2026-11-20T09:15:00.000Z");
    expect(limits.list()?.map(({ usedPercent }) => usedPercent)).toEqual([2, 3]);
  });

  it("ignore what is not a reading", () => {
    const limits = createLimits();
    const good = { used_percent: 1, window_minutes: 300, resets_at: seconds };
    for (const bad of [
      null,
      "primary",
      { primary: null },
      { primary: { ...good, used_percent: -1 } },
      { primary: { ...good, used_percent: "1" } },
      { primary: { ...good, window_minutes: 0 } },
      { primary: { ...good, resets_at: 1e300 } },
      { primary: { used_percent: 1, window_minutes: 300 } },
    ])
      limits.add(bad, AT);
    limits.add({ primary: good }, undefined);
    expect(limits.list()).toBeUndefined();
  });
});
