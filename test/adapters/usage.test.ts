import { type SessionUsage, toIso } from "sessarc";
import { addUsage, createLedger, emptyUsage, mergeUsage, toSlot, widen } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import type { LedgerEntry } from "../../core/session/usage.ts";

const entry = (key: string | undefined, output: number, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
  key,
  at: "2026-11-20T20:16:00.000Z",
  model: "m",
  usage: { input: 1, output },
  ...more,
});
const tokens = (input: number, output: number) => ({ ...emptyUsage(), input, output });

describe("usage", () => {
  it("takes numbers and numeric strings, and nothing negative or not finite", () => {
    const usage: SessionUsage = {};
    addUsage(usage, "m", { input: "12", output: 3.9, cacheRead: -5, cacheWrite5m: Number.NaN, cacheWrite1h: "x" });
    addUsage(usage, "m", { input: 1, output: Number.POSITIVE_INFINITY, cacheRead: null });
    expect(usage).toEqual({ m: { input: 13, output: 3, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 } });
  });

  it("does not let a model's name reach the prototype of all objects", () => {
    const usage: SessionUsage = {};
    for (const name of ["__proto__", "constructor", "toString"]) addUsage(usage, name, { input: 7 });
    expect(Object.hasOwn(Object.prototype, "input")).toBe(false);
    expect(Object.values(usage).map((part) => part.input)).toEqual([7, 7, 7]);
  });

  it("merges", () => {
    const into: SessionUsage = { a: tokens(1, 2) };
    mergeUsage(into, { a: tokens(1, 1), b: tokens(5, 0) });
    expect(into).toEqual({ a: tokens(2, 3), b: tokens(5, 0) });
  });

  it("knows the quarter-hour", () => {
    expect(toSlot("2026-11-20T20:29:59.999Z")).toBe("2026-11-20T20:15");
    expect(toSlot("2026-11-20T20:00:00Z")).toBe("2026-11-20T20:00");
    expect(toSlot("2026-11-20T22:31:00+02:00")).toBe("2026-11-20T20:30");
    expect(toSlot("never")).toBe("");
  });
});

describe("ledger", () => {
  it("D1: counts a reply once, with its largest record, at its first time and model", () => {
    const ledger = createLedger();
    ledger.add(entry("a", 5));
    ledger.add(entry("b", 9));
    ledger.add(entry("a", 631, { at: "2026-11-20T23:00:00.000Z", model: "later" }));
    ledger.add(entry("a", 7));
    ledger.add(entry(undefined, 1));
    ledger.add(entry(undefined, 1));
    const { usage, slots, replies, evidence } = ledger.summary();
    expect(usage).toEqual({ m: tokens(4, 642) });
    expect(slots).toEqual({ "2026-11-20T20:15": { m: tokens(4, 642) } });
    expect(replies.map((reply) => reply.usage.output)).toEqual([631, 9, 1, 1]);
    expect(evidence).toEqual({ records: 6, requests: 4, duplicatesFolded: 2, inheritedExcluded: 0 });
  });

  it("keeps what is inherited apart", () => {
    const ledger = createLedger();
    ledger.add(entry("a", 5, { inherited: true }));
    ledger.add(entry("b", 6));
    const { usage, inheritedUsage, slots, evidence } = ledger.summary();
    expect(usage).toEqual({ m: tokens(1, 6) });
    expect(inheritedUsage).toEqual({ m: tokens(1, 5) });
    expect(slots["2026-11-20T20:15"]).toEqual({ m: tokens(1, 6) });
    expect(evidence).toMatchObject({ requests: 1, inheritedExcluded: 1 });
  });
});

describe("times", () => {
  it("keeps UTC as written and converts the rest", () => {
    expect(toIso("2026-01-01T10:00:00Z")).toBe("2026-01-01T10:00:00Z");
    expect(toIso("2026-01-01T10:00:00+01:00")).toBe("2026-01-01T09:00:00.000Z");
    expect(toIso(1_795_206_252)).toBe("2026-11-20T20:24:12.000Z");
    expect(toIso(1_795_206_252_123)).toBe("2026-11-20T20:24:12.123Z");
    for (const value of ["2026-99-01T10:00:00Z", "soon", "", Number.NaN, -1, 9e99, null, {}]) {
      expect(toIso(value)).toBeUndefined();
    }
  });

  it("finds the first and the last time, with and without fractions", () => {
    const span = {};
    for (const at of ["2026-01-01T10:00:00Z", "2026-01-01T10:00:00.500Z", undefined]) widen(span, at);
    expect(span).toEqual({ startedAt: "2026-01-01T10:00:00Z", endedAt: "2026-01-01T10:00:00.500Z" });
  });
});
