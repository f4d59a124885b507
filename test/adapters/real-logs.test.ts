/** Logs that today's tools wrote, shortened and with neutral names; the version stands in the file's name. */
import { fileURLToPath } from "node:url";
import { type AdapterPlugin, pathsIn, type SessionEvent } from "sessarc";
import codex from "sessarc/plugins/codex";
import gemini from "sessarc/plugins/gemini-cli";
import { describe, expect, it } from "vitest";
import { drain } from "../adapter/bench.ts";

const ENV = { home: "/home/nobody", platform: process.platform, env: {} };

async function read({ adapter }: AdapterPlugin, name: string) {
  const path = fileURLToPath(new URL(`../fixtures/real/${name}`, import.meta.url));
  return drain(adapter.read({ tool: adapter.name, key: "session", path }, ENV));
}

const of = (events: readonly SessionEvent[], ...kinds: SessionEvent["kind"][]) =>
  events.filter((event) => kinds.includes(event.kind));
const ends = (events: readonly SessionEvent[]) =>
  of(events, "tool_result").map((event) => [event.tool_name, event.is_error]);

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

  it("a history that was written anew has its calls and results in parts of messages", async () => {
    const { events } = await read(gemini(), "gemini-cli-0.61.0-resumed-history-only.jsonl");
    expect(of(events, "tool_use").map((event) => event.tool_name)).toEqual(calls);
    expect(ends(events).map(([, failed]) => failed)).toEqual([false, true, false, true, false]);
  });
});
