/** The scale of the timeline: pauses are pressed, and the axis has round times, in order and apart. */
import { describe, expect, it } from "vitest";
import { createScale, type Tick } from "../../ui/features/session/timeline-scale.ts";

const MINUTE = 60_000;
const START = new Date(2026, 10, 3, 10, 17, 30).getTime();
const toScale = (times: readonly number[], byTime = true) =>
  createScale({ times: [...times], total: times.length }, byTime);
const clock = (tick: Tick | undefined) =>
  tick && "time" in tick ? new Date(tick.time).toTimeString().slice(0, 8) : undefined;

describe("ticks of the timeline", () => {
  it("are the beginning and round times", () => {
    const scale = toScale(Array.from({ length: 13 }, (_, i) => START + i * MINUTE));
    expect(scale.ticks(0, 1, 1 / 6).map(clock)).toEqual([
      "10:17:30",
      "10:20:00",
      "10:22:00",
      "10:24:00",
      "10:26:00",
      "10:28:00",
    ]);
    const zoomed = scale.ticks(0, 1 / 12, 1 / 40).map(clock);
    expect(zoomed).toEqual(["10:17:30", "10:18:00", "10:18:30"]);
  });

  it("start again after a pause, at the time of the next message", () => {
    const later = START + 3 * 60 * MINUTE + 7 * MINUTE;
    const scale = toScale([START, START + 2 * MINUTE, later, later + 2 * MINUTE]);
    expect(scale.breaks).toHaveLength(1);
    // A mark's width, however long it was.
    expect(scale.place(2) - scale.place(1)).toBeCloseTo(0.02 / 1.02);
    const ticks = scale.ticks(0, 1, 0.1);
    expect(ticks.map(clock)).toContain("13:24:30");
    const after = ticks.find((tick) => clock(tick) === "13:24:30");
    expect(after?.place).toBeCloseTo(scale.place(2));
  });

  it("are spread over a night of many short stretches, not only at its ends", () => {
    // From one day to the next, a pause every five minutes: the stretches are nearer to each other than their words.
    const times = Array.from({ length: 360 }, (_, i) => START + (i >> 1) * 5 * MINUTE + (i % 2) * 30_000);
    const places = toScale(times)
      .ticks(0, 1, 0.08)
      .map(({ place }) => place);
    expect(places.filter((place) => place > 0.1 && place < 0.9).length).toBeGreaterThan(3);
  });

  it("leave most of the strip to what happened, with many pauses too", () => {
    const times = Array.from({ length: 200 }, (_, i) => START + (i >> 1) * 5 * MINUTE + (i % 2) * 30_000);
    const scale = toScale(times);
    expect(scale.breaks.length).toBeGreaterThan(90);
    const paused = scale.breaks.length * (scale.place(2) - scale.place(1));
    expect(paused).toBeLessThan(0.2);
  });

  it("are in order and apart, whatever the clock did", () => {
    const times = Array.from({ length: 400 }, (_, i) => START + ((i * 7919) % 400) * MINUTE);
    for (const [from, to, least] of [
      [0, 1, 0.05],
      [0.2, 0.3, 0.01],
      [0.5, 0.501, 0.0001],
    ] as const) {
      const places = toScale(times)
        .ticks(from, to, least)
        .map(({ place }) => place);
      for (const [i, place] of places.entries())
        if (i > 0) expect(place - (places[i - 1] ?? 0)).toBeGreaterThan(least * 0.999);
    }
  });

  it("are round numbers where messages are spaced by number, or have no time", () => {
    const numbers = (scale: ReturnType<typeof toScale>) =>
      scale.ticks(0, 1, 0.15).map((tick) => ("seq" in tick ? tick.seq : undefined));
    expect(
      numbers(
        toScale(
          Array.from({ length: 101 }, (_, i) => START + i),
          false,
        ),
      ),
    ).toEqual([0, 20, 40, 60, 80, 100]);
    expect(numbers(toScale(Array.from({ length: 101 }, () => Number.NaN)))).toEqual([0, 20, 40, 60, 80, 100]);
    expect(numbers(toScale([START]))).toEqual([0]);
  });
});
