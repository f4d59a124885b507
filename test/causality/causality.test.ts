import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionEvent } from "sessarc";
import type { ToolRole } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import { readShell } from "../../core/adapter/shell-input.ts";
import { toCommand } from "../../core/adapter/tool-call.ts";
import archive from "../../plugins/archive/index.ts";
import { createAnalysis } from "../../plugins/causality/analyze.ts";
import type { Causality } from "../../plugins/causality/index.ts";
import causality from "../../plugins/causality/index.ts";
import { pathsInText, toPlace } from "../../plugins/causality/paths.ts";
import claude from "../../plugins/claude-code/index.ts";
import { createTestKernel } from "../kernel.ts";

const ROLES: Record<string, ToolRole> = { Read: "read", Edit: "edit", Grep: "search", Bash: "shell", Patch: "patch" };

function session(...calls: [tool: string, input: unknown, result?: string, failed?: boolean][]): SessionEvent[] {
  return calls.flatMap(([tool_name, tool_input, text = "", is_error = false], i): SessionEvent[] => [
    { seq: 2 * i, kind: "tool_use", text: "", tool_name, tool_input: tool_input as never, tool_use_id: `t${i}` },
    { seq: 2 * i + 1, kind: "tool_result", text, tool_use_id: `t${i}`, is_error },
  ]);
}
function run(events: readonly SessionEvent[]): Causality {
  const analysis = createAnalysis(ROLES, "/w/app");
  for (const event of events) analysis.add(event);
  return analysis.finish();
}

describe("causes of a change", () => {
  it("ranks the same file, failures, searches, namesakes, neighbours and what is recent", () => {
    const { changes, reads, wastedReads } = run(
      session(
        ["Read", { file_path: "/w/app/docs/far.md" }, "x".repeat(400)],
        ["Read", { file_path: "/w/app/src/near.ts" }],
        ["Read", { file_path: "/w/app/test/auth.test.ts" }],
        ["Grep", { pattern: "login", path: "/w/app" }, "src/auth.ts:3: login()\nsrc/other.ts:9: login"],
        ["Bash", { command: "npm test" }, "FAIL src/auth.ts:12:3 expected true", true],
        ["Read", { file_path: "/w/app/src/auth.ts" }],
        ["Edit", { file_path: "src/auth.ts", old_string: "a", new_string: 'import { b } from "./near.ts"' }],
      ),
    );
    expect(changes).toHaveLength(1);
    const [change] = changes;
    expect(change).toMatchObject({ seq: 12, tool_name: "Edit", path: "src/auth.ts" });
    expect(change?.causes.map(({ relation, seq }) => [relation, seq])).toEqual([
      ["same-file", 10],
      ["error-output", 9],
      ["search-hit", 6],
      ["same-stem", 4],
      ["same-directory", 2],
      ["recent", 0],
    ]);
    expect(change?.causes[2]).toMatchObject({ pattern: "login", reason: expect.stringContaining('"login"') });
    const scores = change?.causes.map(({ score }) => score) ?? [];
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(reads).toBe(4);
    expect(wastedReads).toEqual([{ seq: 0, path: "/w/app/docs/far.md", tokens: 100 }]);
  });

  it("does not take a file of the same folder for a cause that the change says nothing of", () => {
    const { changes, wastedReads } = run(
      session(
        ["Read", { file_path: "/w/app/src/unrelated.ts" }, "x".repeat(40)],
        ["Edit", { file_path: "src/auth.ts", old_string: "a", new_string: "unrelatedly" }],
      ),
    );
    expect(changes[0]?.causes.map(({ relation }) => relation)).toEqual(["recent"]);
    expect(wastedReads).toMatchObject([{ path: "/w/app/src/unrelated.ts" }]);
  });

  it("knows no change of a call that failed, keeps the order of the others, and lets no failed edit use a read", () => {
    const edit = (file: string) => ({ file_path: `/w/app/src/${file}`, old_string: "a", new_string: "b" });
    const event = (seq: number, n: number, tool_input?: Record<string, string>, is_error = false): SessionEvent => ({
      seq,
      ...(tool_input ? { kind: "tool_use", tool_name: "Edit", tool_input } : { kind: "tool_result", is_error }),
      text: "",
      tool_use_id: `c${n}`,
    });
    const events = [
      ...session(
        ["Read", { file_path: "/w/app/src/no.ts" }, "text"],
        ["Read", { file_path: "/w/app/src/a.ts" }, "text"],
      ),
      ...[event(4, 1, edit("no.ts")), event(5, 2, edit("b.ts")), event(6, 3, edit("a.ts"))],
      ...[event(7, 3), event(8, 1, undefined, true)],
    ];
    const { changes, wastedReads } = run(events);
    expect(changes.map(({ seq, path }) => [seq, path])).toEqual([
      [5, "/w/app/src/b.ts"],
      [6, "/w/app/src/a.ts"],
    ]);
    expect(wastedReads.map(({ path }) => path)).toEqual(["/w/app/src/no.ts"]);
    const failed = session(["Edit", edit("a.ts"), "Error: not found", true]);
    expect(run(failed)).toMatchObject({ changes: [], wastedReads: [] });
  });

  it("hands on what is certain although one call's result never comes", () => {
    const analysis = createAnalysis(ROLES, "/w/app");
    const edits = Array.from({ length: 600 }, (_, i): [string, unknown] => ["Edit", { file_path: `f${i}.ts` }]);
    for (const one of session(...edits)) if (one.seq !== 1) analysis.add(one);
    expect(analysis.takeChanges().map(({ path }) => path)).toEqual(edits.map((_, i) => `f${i}.ts`));
  });

  it("names ten causes at most, and each file of a patch", () => {
    const many = Array.from(
      { length: 30 },
      (_, i) => ["Read", { file_path: `/w/app/src/f${i}.ts` }] as [string, object],
    );
    const patch = "*** Begin Patch\n*** Update File: src/f1.ts\n*** Add File: src/new.ts\n*** End Patch";
    const { changes } = run(session(...many, ["Patch", patch]));
    expect(changes.map(({ path }) => path)).toEqual(["src/f1.ts", "src/new.ts"]);
    for (const { causes } of changes) expect(causes.length).toBeLessThanOrEqual(10);
    expect(changes[0]?.causes[0]).toMatchObject({ relation: "same-file", path: "/w/app/src/f1.ts" });
  });

  it("takes plain shell reads, and nothing wastes a session that only looks", () => {
    const shell = (command: string) => ["Bash", { command }, "text"] as [string, object, string];
    const looked = session(
      shell("cd src && sed -n '1,80p' a.ts"),
      shell("cat b.ts | head -20"),
      shell("rg -n foo src/c.ts"),
    );
    expect(run(looked)).toMatchObject({ changes: [], reads: 2, wastedReads: [] });
    const { changes } = run([
      ...looked,
      ...session(["Edit", { file_path: "/w/app/src/a.ts" }]).map((e) => ({ ...e, seq: e.seq + 6 })),
    ]);
    expect(changes[0]?.causes[0]).toMatchObject({ relation: "same-file", path: "src/a.ts" });
  });

  it("P5: work grows with the session and no faster", () => {
    const steps = (n: number) => {
      const analysis = createAnalysis(ROLES, "/w/app");
      const calls = Array.from({ length: n }, (_, i): [string, unknown, string] =>
        i % 3 === 0
          ? ["Edit", { file_path: `/w/app/src/f${i % 50}.ts` }, "ok"]
          : i % 3 === 1
            ? ["Read", { file_path: `/w/app/src/f${i % 70}.ts` }, "text"]
            : ["Grep", { pattern: "x" }, `src/f${i % 50}.ts src/f${i % 7}.ts`],
      );
      for (const event of session(...calls)) analysis.add(event);
      return analysis.steps;
    };
    const [a, b] = [steps(5_000), steps(10_000)];
    expect(b / a).toBeLessThan(2.1);
    expect(b).toBeLessThan(10_000 * 60);
  });
});

describe("shell commands", () => {
  it("reads words, quotes and pipes, and leaves the rest alone", () => {
    expect(readShell("head -n 20 'my file.txt' other.txt > out.txt").reads).toEqual(["my file.txt", "other.txt"]);
    expect(readShell("FOO=1 make && tail -50 log.txt 2>/dev/null").reads).toEqual(["log.txt"]);
    expect(readShell('grep -rn -A 3 "a b" src test').searches).toEqual([{ pattern: "a b", paths: ["src", "test"] }]);
    expect(readShell("cat > x.ts <<'EOF'\ncat secret\nEOF").reads).toEqual([]);
    expect(readShell("sed -i s/a/b/ x.ts").reads).toEqual([]);
    expect(readShell("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.ts\nEOF").patched).toEqual(["a.ts"]);
    expect(toCommand({ command: ["bash", "-lc", "cat a.ts"] })).toBe("cat a.ts");
  });

  it("finds paths in texts in linear time", () => {
    expect(
      pathsInText("at f (src/a/b.ts:12:3) and C:\\x\\y.cs, not 1.5 or e.g. this ... ./x.test.js a.b-c .env"),
    ).toEqual(["src/a/b.ts", "\\x\\y.cs", "./x.test.js"]);
    expect(pathsInText("a".repeat(1_000_000))).toEqual([]);
    expect(pathsInText(".".repeat(1_000_000))).toEqual([]);
    expect(pathsInText(`${"a.ts ".repeat(10)}${"x".repeat(10_000)} late.ts`)).toHaveLength(10);
    expect(toPlace("../x/./auth.test.ts", "/w/app")).toEqual({ path: "/w/x/auth.test.ts", dir: "/w/x", stem: "auth" });
  });
});

it("an answer is cached: the second request reads nothing", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude(), causality()] });
  const id = "aaaaaaaa-0000-4000-8000-000000000001";
  const folder = join(t.home, ".claude/projects/-w-app");
  mkdirSync(folder, { recursive: true });
  const line = (n: number) =>
    `${JSON.stringify({ type: "assistant", uuid: `a${n}`, timestamp: new Date(Date.UTC(2026, 10, 1) + n * 1000).toISOString(), cwd: "/w/app", message: { id: `m${n}`, role: "assistant", model: "m", content: [{ type: "tool_use", id: `t${n}`, name: "Read", input: { file_path: "/w/app/a.ts" } }] } })}\n`;
  writeFileSync(join(folder, `${id}.jsonl`), Array.from({ length: 1_500 }, (_, n) => line(n)).join(""));
  await t.send("POST", "/api/import", { all: true });
  const { stats } = t.kernel.storage.transcripts;
  const ask = () => t.json<Causality>(`/api/sessions/claude-code:${id}/causality`);
  const answer = await ask();
  expect(answer.reads).toBe(1_500);
  const read = stats.inflated;
  expect(read).toBeGreaterThan(0);
  expect(await ask()).toEqual(answer);
  expect(stats.inflated).toBe(read);
});

it("GET /sessions/:id/causality: 404 for unknown ids, and again when the session grew", async () => {
  const t = await createTestKernel({ plugins: [archive(), claude(), causality()] });
  const log = join(t.home, ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
  mkdirSync(dirname(log), { recursive: true });
  const call = (n: number, name: string, input: object) =>
    `${JSON.stringify({ type: "assistant", uuid: `a${n}`, timestamp: `2026-11-01T10:00:0${n}.000Z`, cwd: "/w/app", message: { id: `m${n}`, role: "assistant", model: "m", content: [{ type: "tool_use", id: `t${n}`, name, input }] } })}\n`;
  writeFileSync(log, call(1, "Read", { file_path: "/w/app/a.ts" }));
  await t.send("POST", "/api/import", { all: true });
  const path = "/api/sessions/claude-code:aaaaaaaa-0000-4000-8000-000000000001/causality";
  expect(await t.json(path)).toEqual({ changes: [], reads: 1, wastedReads: [], tokenEstimate: "characters / 4" });
  appendFileSync(log, call(2, "Edit", { file_path: "/w/app/a.ts", old_string: "a", new_string: "b" }));
  await t.send("POST", "/api/sync?wait=1");
  const grown = await t.json<Causality>(path);
  expect(grown.changes[0]?.causes[0]).toMatchObject({
    seq: 0,
    relation: "same-file",
    reason: "Read this file 1 message before",
  });
  expect((await t.fetch("/api/sessions/nope:1/causality")).status).toBe(404);
});
