import type { SessionRef } from "sessarc";
import { expect, it } from "vitest";
import { type FoundLog, Logs } from "../../plugins/archive/places/logs.ts";
import claudeCode from "../../plugins/claude-code/index.ts";

const { adapter } = claudeCode();
if (!adapter) throw new Error("it is an adapter");
const log = (key: string, path: string, others: Partial<SessionRef> = {}, root = "/logs"): FoundLog => ({
  id: `claude-code:${key}`,
  ref: { tool: "claude-code", key, path, ...others },
  adapter,
  root,
  stored: "not",
});

/** Named as their key, otherwise, and not at all: in folders, on Windows, in one database. */
const ALL = [
  log("a", "/logs/p/a.jsonl", { size: 3, mtime: 1.5, exclusive: true }),
  log("b", "/logs/p/b.jsonl", { size: 0, mtime: 0, exclusive: true }),
  log("b-1", "/logs/b/b-1/b-1/b-1.jsonl.zst", { exclusive: false }),
  log("p", "/logs/p/rollout-p.jsonl", { size: 7, companions: ["/logs/p/side"] }),
  log("p:sub", "/logs/p/subagents/sub.jsonl", { parent: "p", title: "of another" }),
  log("c", "C:\\logs\\c.jsonl", { mtime: 4 }),
  log("one", "/logs/state.db", { version: "v1", size: 5 }),
  log("two", "/logs/state.db", { version: "v2", cwd: "/w" }, "/other"),
];
const filled = () => {
  const logs = new Logs();
  for (const one of ALL) logs.set(one);
  return logs;
};

it("answers the logs of a listing as they were found", () => {
  const logs = filled();
  expect(logs.size).toBe(ALL.length);
  expect([...logs.values()]).toEqual(ALL);
  for (const one of ALL) {
    expect(logs.get(one.id)).toEqual(one);
    expect(logs.at(one.ref.path)).toEqual(ALL.filter(({ ref }) => ref.path === one.ref.path));
  }
  expect([logs.get("claude-code:x"), logs.has("claude-code:x")]).toEqual([undefined, false]);
  for (const path of ["/logs/p/x.jsonl", "/logs/p/.jsonl", "/logs/p/", "", "/logs/q/a.jsonl"])
    expect(logs.at(path), path).toEqual([]);
});

it("takes what changed in the place of what was", () => {
  const logs = filled();
  const moved = log("a", "/logs/q/other.jsonl", { size: 9, title: "new" }, "/other");
  const back = log("p", "/logs/p/p.jsonl");
  for (const one of [moved, back]) logs.set(one);
  logs.setStored(moved.id, "same");
  expect(logs.size).toBe(ALL.length);
  expect(logs.get(moved.id)).toEqual({ ...moved, stored: "same" });
  expect(logs.get(back.id)).toEqual(back);
  expect([logs.at("/logs/p/a.jsonl"), logs.at("/logs/p/rollout-p.jsonl")]).toEqual([[], []]);
  expect(logs.at(moved.ref.path)).toEqual([{ ...moved, stored: "same" }]);
});

it("holds a hundred thousand", () => {
  const logs = new Logs();
  for (let n = 0; n < 100_000; n++) logs.set(log(`key-${n}`, `/logs/${n % 7}/key-${n}.jsonl`, { size: n }));
  expect(logs.at("/logs/5/key-99997.jsonl").map(({ ref }) => ref.size)).toEqual([]);
  expect(logs.at(`/logs/${99_997 % 7}/key-99997.jsonl`).map(({ ref }) => ref.size)).toEqual([99_997]);
});
