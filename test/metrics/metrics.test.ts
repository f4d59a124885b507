/** GET /metrics: figures of the report of usage, in Prometheus' text format, and nothing else. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import { defaultPlugins } from "../../plugins/index.ts";
import { makeTempDir } from "../_setup.ts";

it("gives tokens, cost, sessions and budgets without content, each line well formed", async () => {
  const home = await makeTempDir();
  const t = await createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
  const id = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
  const file = join(home, `.claude/projects/-w-secret/${id}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  const reply = (n: number, model: string) => ({
    type: "assistant",
    uuid: `u${n}`,
    sessionId: id,
    timestamp: new Date().toISOString(),
    cwd: "/w/secret",
    requestId: `r${n}`,
    message: {
      id: `m${n}`,
      role: "assistant",
      model,
      content: [{ type: "text", text: "secret words" }],
      usage: { input_tokens: 10, output_tokens: 1_000_000, cache_read_input_tokens: 300 },
    },
  });
  const rows = [reply(1, "claude-haiku-4-5"), reply(2, 'un"heard\\of')];
  await writeFile(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await t.send("POST", "/api/import", { all: true });
  await t.send("PUT", "/api/budgets", { budgets: [{ period: "day", amount: 10_000_000 }] });
  const response = await t.fetch("/metrics");
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const text = await response.text();
  expect(text).toContain('sessarc_tokens{tool="claude-code",model="claude-haiku-4-5",type="output"} 1000000\n');
  expect(text).toContain('sessarc_tokens{tool="claude-code",model="claude-haiku-4-5",type="cache_read"} 300\n');
  expect(text).toContain('model="un\\"heard\\\\of",type="input"} 10\n');
  expect(text).toContain('sessarc_cost_dollars{tool="claude-code",model="claude-haiku-4-5"} 5.00004\n');
  expect(text).toContain('sessarc_sessions{tool="claude-code"} 1\n');
  expect(text).toMatch(/sessarc_budget_used_ratio\{id="\w+",period="day",scope="all",target="",unit="money"\} 0\.5/);
  expect(text).not.toContain("secret");
  for (const line of text.trimEnd().split("\n"))
    expect(line).toMatch(/^(# (HELP|TYPE) \w+ .+|\w+\{(\w+="(?:[^"\\\n]|\\.)*",?)*\} -?[\d.e+-]+)$/);
});
