import { expect, test } from "vitest";
import { compare } from "./compare.ts";
import type { Entry } from "./model/script.ts";
import type { Told } from "./read.ts";

const tokens = (n: number) => ({ input: n, output: n, cacheRead: 0, cacheWrite: 0, reasoning: 0 });
const entry = (n: number, more: Partial<Entry> = {}): Entry => ({
  ...{ id: `r${n}`, protocol: "chat", lane: "main", model: "m", tokens: tokens(n), calls: [], text: "" },
  ...{ status: 200, finished: true, prompts: [], tools: [] },
  ...more,
});
const told = (more: Partial<Told> = {}): Told => ({
  ...{ sessions: 1, tokens: tokens(3), calls: [], open: 0, failures: 0, prompts: ["Go"] },
  ...{ changed: [], caused: [], unread: [] },
  ...more,
});
const EXPECTED = { sessions: 1, prompts: ["Go"], changed: [], failures: 0 };
const none = () => undefined;

test("equal ledgers have nothing to say, refused requests cost nothing", () => {
  const ledger = [entry(1), entry(2), entry(9, { status: 500 })];
  expect(compare(ledger, told(), EXPECTED, none)).toEqual({ wrong: [], unlogged: [] });
});

test("every difference is said with both sides", () => {
  const ledger = [entry(1, { calls: [{ name: "ls", input: {} }] }), entry(1)];
  const { wrong } = compare(ledger, told({ open: 1, failures: 1, unread: ["x"], sessions: 2 }), EXPECTED, none);
  expect(wrong.map((one) => one.split(":")[0])).toEqual([
    ...["tokens", "calls", "calls without a result", "failures", "sessions", "unread"],
  ]);
  expect(wrong[1]).toBe('calls: [] instead of ["ls"]');
});

test("a result that a killed tool had not written is named, one that is missing otherwise differs", () => {
  const ledger = [entry(1), entry(2)];
  const killed = { ...EXPECTED, unwritten: 1 };
  expect(compare(ledger, told({ open: 1 }), killed, none)).toMatchObject({
    wrong: [],
    unlogged: [expect.stringContaining("killed")],
  });
  expect(compare(ledger, told({ open: 2 }), killed, none).wrong).toHaveLength(1);
  expect(compare(ledger, told({ open: 1 }), EXPECTED, none).wrong).toHaveLength(1);
});

test("what a tool is known not to log is named when it is missing, and only then", () => {
  const title = (one: Entry) => (one.lane === "side" ? "a title" : undefined);
  const ledger = [entry(1), entry(2), entry(4, { lane: "side" })];
  expect(compare(ledger, told(), EXPECTED, title)).toEqual({ wrong: [], unlogged: ["a title (4 in, 4 out)"] });
  expect(compare(ledger, told({ tokens: tokens(7) }), EXPECTED, title)).toEqual({ wrong: [], unlogged: [] });
  expect(compare(ledger, told(), EXPECTED, none).wrong).toHaveLength(1);
});

test("of several that need not be logged, those that are missing are found", () => {
  const ledger = [entry(3), entry(4, { finished: false }), entry(8, { finished: false })];
  const { wrong, unlogged } = compare(ledger, told({ tokens: tokens(11) }), EXPECTED, none);
  expect(wrong).toEqual([]);
  expect(unlogged).toEqual(["a reply that was cut off (4 in, 4 out)"]);
});

test("a call that failed inside a script may be missing, one that worked may not", () => {
  const calls = [{ name: "exec", input: "", nested: ["apply_patch"] }];
  const failed = told({ failures: 1, calls: ["exec"] });
  const verdict = compare([entry(3, { calls })], failed, { ...EXPECTED, failures: 1 }, none);
  expect(verdict).toEqual({ wrong: [], unlogged: ["the failed call apply_patch inside a script"] });
  expect(compare([entry(3, { calls })], told({ calls: ["exec"] }), EXPECTED, none).wrong).toHaveLength(1);
});
