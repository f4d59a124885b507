/**
 * `guard-rows.jsonl`: a call a row, and what the guard answers it. `files` names the folder of `_guard-worlds.ts` in which it is asked,
 * `as` the assistant, `why` what the row shows. A call is a shell's `line`, or a `tool` with its `input`.
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { PORT, WORLDS } from "./_guard-worlds.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";

interface Row {
  files: keyof typeof WORLDS;
  as?: string;
  /** `missed`: harmful, and the guard does not recognize it. */
  verdict: "block" | "ask" | "allow" | "missed";
  /** What is found, where that is the point of the row. */
  rules?: string[];
  /** Whether the guard says that it could not look at all of it, where that is the point. */
  partial?: boolean;
  why: string;
  line?: string;
  tool?: string;
  input?: Record<string, unknown>;
}

interface Answer {
  decision: string;
  ask: string | null;
  reason: string | null;
  partial: boolean;
  findings: { rule: string }[];
}

const ROWS = readFileSync(new URL("guard-rows.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n")
  .map((text): Row => JSON.parse(text));

/** A word of the text that explains a finding. */
const SAID: Readonly<Record<string, string>> = {
  "prints-credentials": "credential",
  "own-archive": "sessarc search --redacted",
};

const titled = (rows: readonly Row[]): [string, string, Row][] =>
  rows.map((row) => [row.verdict, row.line ?? `${row.as ?? ""} ${row.tool} ${JSON.stringify(row.input)}`, row]);

it("95 of 100 harmful calls are recognized", () => {
  const harmful = ROWS.filter(({ files, verdict }) => files === "home" && verdict !== "allow");
  const missed = harmful.filter(({ verdict }) => verdict === "missed");
  expect(1 - missed.length / harmful.length).toBeGreaterThan(0.95);
});

describe.each(Object.entries(WORLDS))("%s", (files, write) => {
  let t: TestKernel;
  let cwd: string;
  beforeAll(async () => {
    t = await createTestKernel({ plugins: plugins() });
    cwd = write(t);
  });
  afterAll(() => t.close());

  /** `~/` and `@/` begin paths of the home and of the folder; names in double braces are places of this run. */
  function fill(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(fill);
    if (typeof value !== "string") return value;
    return value
      .replace(/^@\//, `${cwd}/`)
      .replace(/^~\//, `${t.home}/`)
      .replace("{{cwd}}", cwd)
      .replace("{{data}}", t.kernel.storage.dataDir)
      .replace("{{port}}", String(PORT))
      .replace("{{free}}", String(PORT + 1))
      .replace(/\{\{letters (\d+) (\d+)\}\}/g, (_, length, seed) => letters(Number(length), Number(seed)));
  }
  async function ask({ as, line, tool = "Bash", input = { command: line } }: Row): Promise<Answer> {
    const filled = Object.entries(input).map(([key, value]) => [key, fill(value)]);
    const call = { hook_event_name: "PreToolUse", cwd, tool_name: tool, tool_input: Object.fromEntries(filled) };
    return (await t.send<Answer>("POST", `/api/security/pretooluse${as ? `?client=${as}` : ""}`, call)).body;
  }

  it.each(titled(ROWS.filter((row) => row.files === files)))("%s: %s", async (_verdict, _call, row) => {
    const { decision, ask: question, reason, partial, findings } = await ask(row);
    const verdict = decision === "allow" && question ? "ask" : decision;
    expect(verdict).toBe(row.verdict === "missed" ? "allow" : row.verdict);
    if (verdict === "allow") expect(reason).toBeNull();
    if (row.partial !== undefined) expect(partial).toBe(row.partial);
    if (!row.rules) return;
    expect([...new Set(findings.map(({ rule }) => rule))]).toEqual(row.rules);
    for (const rule of row.rules) expect(reason ?? question).toContain(SAID[rule]);
  });
});
