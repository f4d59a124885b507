/** Command Code: three formats of rows, and forks that keep the ids of their messages. */
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import commandCode from "sessarc/plugins/command-code";
import { describe, expect, it } from "vitest";
import { testAdapter } from "../adapter.ts";
import { runCommand } from "../command.ts";
import { home, readAll, shape, useHome } from "./_home.ts";

useHome("command-code");

const fixtures = fileURLToPath(new URL("../fixtures/command-code", import.meta.url));
const [A, B, C] = [1, 2, 3].map((n) => `0199c300-0000-4000-8000-00000000000${n}`);
const tokens = (input: number, output: number, cacheRead: number, cacheWrite5m = 0, cacheWrite1h = 0) => ({
  input,
  output,
  cacheWrite5m,
  cacheWrite1h,
  cacheRead,
});

describe("adapters: command-code", () =>
  testAdapter({
    plugin: (dir) => commandCode({ dir }),
    fixtures,
    expect: {
      sessions: 3,
      kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"],
      usage: { "acme/acme-large": tokens(2 * (50 + 80) + 60, 53, 460, 12, 8) },
    },
  }));

describe("Command Code's rows", () => {
  it("have the tokens of each reply in the third format, the cache inside the input", async () => {
    await cp(fixtures, join(home, ".commandcode"), { recursive: true });
    const [main, fork, old] = await readAll(commandCode().adapter);
    expect([main?.ref.key, fork?.ref.key, old?.ref.key]).toEqual([A, B, C]);
    expect(main?.summary).toMatchObject({
      title: "Round the till up",
      cwd: "/home/ana/shop",
      usage: { "acme/acme-large": tokens(130, 25, 210, 6, 4) },
      costUSD: 0.25,
      evidence: { requests: 2 },
    });
    expect(
      main?.events.filter(({ kind }) => kind === "tool_result").map(({ is_error, text }) => [is_error, text]),
    ).toEqual([
      [false, "export const till = 1;"],
      [true, "1 failed"],
    ]);
    expect(fork?.summary).toMatchObject({ forkedFrom: A });
  });

  it("have no tokens in the second format, and none are guessed", async () => {
    await cp(fixtures, join(home, ".commandcode"), { recursive: true });
    const old = (await readAll(commandCode().adapter)).at(-1);
    expect(shape(old?.events ?? [])).toEqual([
      ["user", "Count the files"],
      ["thinking", "Use ls"],
      ["tool_use", ""],
      ["tool_result", "no such folder"],
      ["assistant", "None."],
    ]);
    expect(old?.events[3]).toMatchObject({ is_error: true, tool_name: "shell_command" });
    expect(old?.summary).toMatchObject({ title: "Files", gitBranch: "main", usage: {} });
  });

  it("count once in a session and its fork", async () => {
    await cp(fixtures, join(home, ".commandcode"), { recursive: true });
    const { stdout } = await runCommand(["usage", "--json"], home);
    expect(stdout).toContain(JSON.stringify({ input: 130 + 60 }).slice(1, -1));
  });

  it("may be anything", async () => {
    const folder = join(home, ".commandcode/projects/w");
    await mkdir(folder, { recursive: true });
    const rows = [
      '{"type":"session","version":3,"id":7,"cwd":["no"]}',
      "[]",
      '{"type":"message"}',
      '{"type":"message","message":{"role":"assistant","content":{"type":"text"}},"usage":"many"}',
      '{"type":"message","id":"x","message":{"role":"assistant","content":[null,3,{"type":"tool_use"},{"type":"tool-result","output":{"type":"json","value":{"a":1}}}]},"usage":{"inputTokens":-4,"outputTokens":2,"cacheWriteTokens":3,"cacheWriteTokens1h":9}}',
      '{"role":"user","content":"of the first format"}',
      '{"type":"of a later version"}',
      '{"type":"message","message":{"role":"assistant","content":"cut',
    ];
    await writeFile(join(folder, "odd.jsonl"), rows.join("\n"));
    await writeFile(join(folder, "odd.meta.json"), "{");
    const [one, ...others] = await readAll(commandCode().adapter);
    expect(others).toEqual([]);
    expect(shape(one?.events ?? []).slice(-2)).toEqual([
      ["tool_result", '{"a":1}'],
      ["user", "of the first format"],
    ]);
    expect(one?.summary).toMatchObject({
      usage: { unknown: tokens(0, 2, 0, 0, 3) },
      skipped: { unknown: { "of a later version": 1 } },
    });
  });
});
