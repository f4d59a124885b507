import { describe, expect, it } from "vitest";
import {
  dayName,
  dayNumber,
  monthName,
  QUARTER_MS,
  toWeekday,
  toZone,
  weekName,
} from "../../plugins/insights/figures/buckets.ts";

const quarter = (iso: string) => Math.floor(Date.parse(iso) / QUARTER_MS);
/** Hour on the clock of a local quarter-hour. */
const toHour = (local: number) => Math.floor((local % 96) / 4);
const day = (zone: string, iso: string) => dayName(toZone(zone).day(quarter(iso)));

describe("local days", () => {
  it("D17: a day begins at the zone's own midnight, quarter-hours east and half-hours west included", () => {
    expect(day("Asia/Kathmandu", "2026-11-20T18:14:59Z")).toBe("2026-11-20");
    expect(day("Asia/Kathmandu", "2026-11-20T18:15:00Z")).toBe("2026-11-21");
    expect(day("America/St_Johns", "2026-11-20T03:29:59Z")).toBe("2026-11-19");
    expect(day("America/St_Johns", "2026-11-20T03:30:00Z")).toBe("2026-11-20");
    expect(day("America/St_Johns", "2026-07-20T02:30:00Z")).toBe("2026-07-20");
    expect(day("UTC", "2026-11-20T23:59:59Z")).toBe("2026-11-20");
  });

  it("days of 23 and 25 hours are whole", () => {
    const berlin = toZone("Europe/Berlin");
    const toQuarters = (name: string) => {
      const start = quarter(`${name}T00:00:00Z`) - 96;
      return Array.from({ length: 288 }, (_, i) => start + i).filter((q) => dayName(berlin.day(q)) === name);
    };
    expect(toQuarters("2026-03-29")).toHaveLength(92);
    expect(toQuarters("2026-10-25")).toHaveLength(100);
    expect(toQuarters("2026-10-26")).toHaveLength(96);
    const hours = toQuarters("2026-03-29").map((q) => toHour(berlin.local(q)));
    expect(hours).not.toContain(2);
    expect(toQuarters("2026-10-25").filter((q) => toHour(berlin.local(q)) === 2)).toHaveLength(8);
  });

  it("agrees with the calendar for every quarter-hour of a year, in zones of every kind", () => {
    for (const name of ["Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/Sao_Paulo"]) {
      const zone = toZone(name);
      const format = new Intl.DateTimeFormat("sv-SE", {
        timeZone: name,
        year: "numeric",
        month: "2-digit",
        day: "2-digit",
      });
      const start = quarter("2026-01-01T00:00:00Z");
      const wrong: string[] = [];
      for (let q = start; q < start + 365 * 96; q += 3) {
        if (dayName(zone.day(q)) !== format.format(q * QUARTER_MS)) wrong.push(new Date(q * QUARTER_MS).toISOString());
      }
      expect(wrong).toEqual([]);
    }
  });

  it("an unknown zone is refused", () => {
    expect(() => toZone("Mars/Olympus")).toThrow(/no time zone/);
  });

  it("weeks go by their Monday, months by their number", () => {
    const friday = dayNumber("2026-11-20") as number;
    expect(toWeekday(friday)).toBe(4);
    expect(weekName(friday)).toBe("2026-11-16");
    expect(weekName(friday + 2)).toBe("2026-11-16");
    expect(weekName(friday + 3)).toBe("2026-11-23");
    expect(weekName(dayNumber("1969-12-30") as number)).toBe("1969-12-29");
    expect(monthName(friday)).toBe("2026-11");
    expect(dayNumber("2026-02-30")).toBeUndefined();
    expect(dayNumber("20261120")).toBeUndefined();
  });
});
