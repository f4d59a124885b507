/** Logs that today's tools wrote, shortened and with neutral names; the version is in the file's name. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "sessarc";
import { type AdapterPlugin, pathsIn } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import copilot from "sessarc/plugins/copilot";
import gemini from "sessarc/plugins/gemini-cli";
import { describe, expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { drain } from "../adapter/bench.ts";

const ENV = { home: "/home/nobody", platform: process.platform, env: {} };

const at = (name: string) => fileURLToPath(new URL(`../fixtures/real/${name}`, import.meta.url));

async function read({ adapter }: AdapterPlugin, name: string) {
  return drain(adapter.read({ tool: adapter.name, key: "session", path: at(name) }, ENV));
}

const of = (events: readonly SessionEvent[], ...kinds: SessionEvent["kind"][]) =>
  events.filter((event) => kinds.includes(event.kind));
const ends = (events: readonly SessionEvent[]) =>
  of(events, "tool_result").map((event) => [event.tool_name, event.is_error]);

describe("claude-code 2.1.330", () => {
  const folder = "claude-code-2.1.330";
  const [session, fork] = ["64f175b9-1307-411a-b039-c9bc5a92df45", "9765782b-c8a6-46fe-bf43-d4260eda425c"];
  const model = "claude-sonnet-4-5";

  it("what the client keeps for itself is known and no unreadable line", async () => {
    for (const name of [session, fork]) {
      const { summary } = await read(claudeCode(), `${folder}/${name}.jsonl`);
      expect(summary.skipped).toEqual({ lines: 0, unknown: {} });
    }
  });

  it("what a compaction spent counts: the client's total without the replies and without the sub-agent's", async () => {
    const { summary } = await read(claudeCode(), `${folder}/${session}.jsonl`);
    expect(summary.usage[model]).toMatchObject({ input: 3249 + 537, output: 449 + 77, cacheRead: 5013 + 849 });
    expect(summary.evidence).toMatchObject({ requests: 8 });
    const child = await read(claudeCode(), `${folder}/${session}/subagents/agent-a41070bbcffbb81f4.jsonl`);
    expect(child.summary.usage[model]).toMatchObject({ input: 989, output: 139, cacheRead: 1543 });
  });

  it("the tokens alone are those of the whole read", async () => {
    for (const name of [session, fork]) {
      const { summary } = await read(claudeCode(), `${folder}/${name}.jsonl`);
      const { adapter } = claudeCode();
      const alone = await adapter.usage?.({ tool: adapter.name, key: name, path: at(`${folder}/${name}.jsonl`) }, ENV);
      expect(alone).toEqual({
        usage: summary.usage,
        replies: summary.replies,
        evidence: summary.evidence,
        parent: summary.parent,
      });
    }
  });

  it("a fork names its parent and does not count its parent's total", async () => {
    const { summary } = await read(claudeCode(), `${folder}/${fork}.jsonl`);
    expect(summary.forkedFrom).toBe(session);
    expect(summary.usage[model]).toMatchObject({ input: 554 + 571, output: 80 + 83, cacheRead: 880 + 911 });
  });

  it("nothing is guessed when the total does not cover the log", async () => {
    const rows = [
      {
        type: "assistant",
        timestamp: "2026-11-22T03:00:00Z",
        message: { id: "m", model, content: [], usage: { input_tokens: 9 } },
      },
      { type: "cost-state", modelUsage: { "another-name": { inputTokens: 20 } } },
    ];
    const path = join(await makeTempDir(), "s.jsonl");
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const { adapter } = claudeCode();
    const { summary } = await drain(adapter.read({ tool: adapter.name, key: "s", path }, ENV));
    expect(Object.keys(summary.usage)).toEqual([model]);
  });

  it("a slash command is what the person said, with its arguments; commands of the client stay notes", async () => {
    const { events } = await read(claudeCode(), "claude-code-2.1.330-slash-command.jsonl");
    expect(of(events, "user").map((event) => event.text)).toEqual(["/check PR 12", "/code-review PR 12"]);
    expect(of(events, "note").some((event) => event.text.startsWith("<command-name>/usage"))).toBe(true);
  });

  it("a session that begins with a slash command is titled by it before it is read", async () => {
    const path = at("claude-code-2.1.330-slash-command.jsonl");
    const { adapter } = claudeCode();
    const peeked = await adapter.peek?.({ tool: adapter.name, key: "s", path, size: 14_756 }, ENV);
    expect(peeked?.title).toBe("/check PR 12");
  });
});

describe("codex 0.169.0", () => {
  it("code mode: what a script called are calls with their results, patches are edits with their diff", async () => {
    const { events, summary } = await read(codex(), "codex-0.169.0-code-mode.jsonl");
    expect(of(events, "tool_use").map((event) => event.tool_name)).toEqual([
      ...["exec", "exec_command", "exec", "exec_command", "exec", "apply_patch", "exec", "apply_patch"],
      ...["exec", "exec", "exec", "exec_command", "exec_command"],
    ]);
    const nested = of(events, "tool_use", "tool_result").filter((event) => event.tool_use_id?.startsWith("exec-"));
    expect(nested[0]).toMatchObject({ tool_input: { cmd: "ls; cat README.md", workdir: "/home/ada/app" } });
    expect(nested[1]).toMatchObject({ text: "README.md\n# App\n", is_error: false, tool_name: "exec_command" });
    expect(nested[3]).toMatchObject({ text: "cat: missing.txt: No such file or directory\n", is_error: true });
    const [added, updated] = of(events, "tool_use").filter((event) => event.tool_name === "apply_patch");
    expect(added?.tool_input).toBe("*** Begin Patch\n*** Add File: /home/ada/app/made.txt\n+one\n+two\n*** End Patch");
    expect(updated?.tool_input).toContain("\n@@ -1 +1 @@\n-# App\n+# Application\n*** End Patch");
    expect(pathsIn(updated?.tool_input, "patch")).toEqual(["/home/ada/app/README.md"]);
    expect(summary.skipped?.unknown).toEqual({});
  });

  it("code mode: a script that failed is a failure", async () => {
    const { events } = await read(codex(), "codex-0.169.0-code-mode.jsonl");
    const failed = of(events, "tool_result").filter((event) => event.is_error && event.tool_name === "exec");
    expect(failed.map((event) => event.text.split("\n").slice(4, 6).join(" "))).toEqual([
      "Script error: apply_patch verification failed: Failed to find expected lines in /home/ada/app/README.md:",
      "Script error: Error: boom",
    ]);
  });

  it("code mode: agents that a script started are calls", async () => {
    const { events } = await read(codex(), "codex-0.169.0-code-mode-agents.jsonl");
    const [spawn, wait] = of(events, "tool_use").filter((event) => event.tool_use_id?.startsWith("exec-"));
    expect(spawn).toMatchObject({ tool_name: "spawn_agent", tool_input: { message: "[[child]] look around" } });
    expect(wait?.tool_name).toBe("wait");
    expect(ends(events).filter(([, failed]) => failed)).toHaveLength(3);
  });

  it("an agent's message is its child's prompt", async () => {
    const { events, summary } = await read(codex(), "codex-0.169.0-child-asked-by-message.jsonl");
    expect(of(events, "user").map((event) => event.text)).toEqual(["[[child]] look around"]);
    expect(summary.parent).toBe("01a20156-5556-70b1-b720-26e51bd4e395");
    expect(summary.skipped?.unknown).toEqual({});
  });

  it("classic: a patch that does not fit is a failure, the summary of a compaction appears once", async () => {
    const { events } = await read(codex(), "codex-0.169.0-classic-compacted.jsonl");
    expect(ends(events)).toEqual([
      ["exec_command", false],
      ["exec_command", true],
      ["apply_patch", false],
      ["apply_patch", true],
      ["exec_command", false],
    ]);
    expect(events.filter((event) => event.text.includes("SUMMARY of all"))).toHaveLength(2); // said twice by the model
    expect(of(events, "note").filter((event) => event.text === "Context compacted")).toHaveLength(2);
  });
});

describe("gemini-cli 0.61.0", () => {
  const calls = ["run_shell_command", "run_shell_command", "write_file", "replace", "read_file"];

  it("resumed within a minute: calls keep their results, thoughts and times", async () => {
    const { events, summary } = await read(gemini(), "gemini-cli-0.61.0-resumed.jsonl");
    expect(of(events, "tool_use").map((event) => event.tool_name)).toEqual(calls);
    const results = of(events, "tool_result");
    expect(results.map((event) => event.tool_use_id)).toEqual(of(events, "tool_use").map((event) => event.tool_use_id));
    expect(of(events, "thinking").map((event) => event.text)).toEqual(["hmm"]);
    expect(of(events, "user").map((event) => event.text)).toEqual(["gemini tools", "go on"]);
    expect(events.find((event) => event.kind === "user")?.at).toBe("2026-11-22T03:50:25.598Z");
    expect(summary.usage["gemini-2.5-pro"]).toMatchObject({ input: 2661, output: 363, cacheRead: 4071 });
  });

  it("a command that ended with an exit code failed", async () => {
    const { events } = await read(gemini(), "gemini-cli-0.61.0-resumed.jsonl");
    expect(ends(events)).toEqual([
      ["run_shell_command", false],
      ["run_shell_command", true],
      ["write_file", false],
      ["replace", true],
      ["read_file", false],
    ]);
  });

  it("a history that was rewritten has its calls and results in parts of messages", async () => {
    const { events } = await read(gemini(), "gemini-cli-0.61.0-resumed-history-only.jsonl");
    expect(of(events, "tool_use").map((event) => event.tool_name)).toEqual(calls);
    expect(ends(events).map(([, failed]) => failed)).toEqual([false, true, false, true, false]);
  });
});

describe("copilot 1.0.102", () => {
  it("a compaction's tokens count beside the records of the calls; every record is known", async () => {
    const { summary, events } = await read(copilot(), "copilot-1.0.102-compacted/events.jsonl");
    expect(summary.usage["gpt-4.1"]).toMatchObject({ input: 2661 + 571, output: 363 + 83, cacheRead: 4071 + 911 });
    expect(summary.evidence).toMatchObject({ requests: 7 });
    expect(summary.skipped?.unknown).toEqual({});
    expect(ends(events).map(([, failed]) => failed)).toEqual([false, false, true, true, false]);
  });
});
