import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { InsightsAnswer, SkillDetail, SkillsOverview } from "../../plugins/index.ts";
import { createUse } from "../../plugins/skills/usage/use.ts";
import type { TestKernel } from "../kernel.ts";
import { importSkill, plant, skillKernel, writeTree } from "./world.ts";

const jsonLines = (rows: readonly object[]) => `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`;

/** A session of Claude Code: calls with their inputs and outcomes, and what was typed. */
function claudeLog(
  id: string,
  cwd: string,
  steps: readonly (string | [tool: string, input: object, failed?: boolean])[],
): string {
  const day = id === "s1" ? 20 : 21;
  const at = (n: number) => `2026-01-${day}T10:00:${String(n).padStart(2, "0")}.000Z`;
  const usage = { input_tokens: 10, output_tokens: 5 };
  const rows = steps.flatMap((step, i): object[] => {
    const base = { uuid: `${id}${i}`, parentUuid: null, sessionId: id, timestamp: at(i), cwd };
    if (typeof step === "string") return [{ ...base, type: "user", message: { role: "user", content: step } }];
    const [name, input, failed] = step;
    const call = { type: "tool_use", id: `t${id}${i}`, name, input };
    const result = { type: "tool_result", tool_use_id: `t${id}${i}`, content: "done", is_error: failed ?? false };
    return [
      {
        ...base,
        type: "assistant",
        requestId: `r${id}${i}`,
        message: { id: `m${id}${i}`, model: "claude-sonnet-4-5", content: [call], usage },
      },
      { ...base, uuid: `${id}${i}b`, type: "user", message: { role: "user", content: [result] } },
    ];
  });
  return jsonLines(rows);
}

async function importAll(t: TestKernel): Promise<void> {
  await t.json("/api/scan");
  await t.send("POST", "/api/import", { all: true });
}

describe("what sessions use", () => {
  it("a skill that was spelled in more ways than a statement takes counts with all of them", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "notes"));
    await writeTree(join(t.home, ".claude/projects/-w-app"), {
      "s1.jsonl": claudeLog("s1", "/w/app", [["Skill", { skill: "notes" }]]),
    });
    await importAll(t);
    await t.kernel.storage.db.run(
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < 32800)
       insert into usage_skill select session, 'notes ' || char(33 + i % 15, 33 + i / 15 % 15, 33 + i / 225 % 15, 33 + i / 3375), 1, 0, last_at from usage_skill, n`,
    );
    const use = await createUse(t.kernel).of(["notes"]);
    expect(use).toMatchObject({ invocations: 32_801, sessions: 1, tools: [{ invocations: 32_801 }] });
    // Both once copied the list with every name.
    expect(await t.json("/api/skills/notes")).toMatchObject({ usage: { invocations: 32_801 } });
    expect(await t.json("/api/skills/usage")).toMatchObject({ used: [{ invocations: 32_801 }] });
  });

  it("counts calls, reads and commands per skill, with failures, projects, tools and tokens", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "notes"));
    await plant(t.home, ".gemini/skills", "idle");
    const logs = join(t.home, ".claude/projects/-w-app");
    await writeTree(logs, {
      "s1.jsonl": claudeLog("s1", "/w/app", [
        "please take notes",
        ["Skill", { skill: "notes" }],
        ["Skill", { skill: "notes" }, true],
        ["Read", { file_path: "/home/u/.claude/skills/notes/SKILL.md" }],
        ["Bash", { command: "cat ~/.claude/skills/absent/SKILL.md" }],
        ["Skill", { skill: "__proto__" }],
        "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
        "<command-name>/notes</command-name>\n<command-message>notes</command-message>",
        ["Read", { file_path: "/home/u/.codex/skills/.system/own/SKILL.md" }],
        ["Edit", { file_path: "/home/u/.claude/skills/written/SKILL.md", old_string: "a", new_string: "b" }],
      ]),
    });
    await writeTree(join(t.home, ".claude/projects/-w-other"), {
      "session2.jsonl": claudeLog("session2", "/w/other", [["Skill", { command: "notes" }]]),
    });
    const codex = { timestamp: "2026-01-22T09:00:00.000Z" };
    await writeTree(join(t.home, ".codex/sessions/2026/01/22"), {
      "rollout-2026-01-22T09-00-00-01a1faa1-8729-76b0-92bf-27f194dda42a.jsonl": jsonLines([
        {
          ...codex,
          type: "session_meta",
          payload: {
            id: "01a1faa1-8729-76b0-92bf-27f194dda42a",
            timestamp: codex.timestamp,
            cwd: "/w/app",
            originator: "codex",
            cli_version: "0.169.0",
          },
        },
        {
          ...codex,
          type: "response_item",
          payload: {
            type: "message",
            role: "user",
            content: [
              { type: "input_text", text: "<skill>\n<name>notes</name>\n<path>/x/SKILL.md</path>\nbody</skill>" },
            ],
          },
        },
      ]),
    });
    await importAll(t);

    const { use, usage } = await t.json<SkillDetail & { use: { sessionCost: unknown } }>("/api/skills/notes");
    expect(use).toMatchObject({ invocations: 6, failures: 1, sessions: 3, projects: 2 });
    expect(use.tools.map((one) => [one.tool, one.invocations, one.sessions])).toEqual([
      ["claude-code", 5, 2],
      ["codex", 1, 1],
    ]);
    expect(use.sessionUsage["claude-sonnet-4-5"]).toMatchObject({ input: 80, output: 40 });
    expect(use.recent.map((one) => [one.sessionId, one.invocations, one.failures])).toEqual([
      ["codex:01a1faa1-8729-76b0-92bf-27f194dda42a", 1, 0],
      ["claude-code:-w-other:session2", 1, 0],
      ["claude-code:-w-app:s1", 4, 1],
    ]);
    expect(usage.invocations).toBe(6);

    const overview = await t.json<SkillsOverview>("/api/skills/usage");
    expect(overview.used.map((one) => [one.name, one.skill, one.invocations])).toEqual([["notes", "notes", 6]]);
    expect(overview.neverUsed.map((one) => [one.name, one.skill, one.tools])).toEqual([["idle", null, ["gemini-cli"]]]);
    expect(overview.notInstalled.map((one) => one.name)).toEqual(["__proto__", "absent"]);
    expect(await t.json<SkillsOverview>("/api/skills/usage?days=1")).toMatchObject({ used: [], notInstalled: [] });
    expect((await t.fetch("/api/skills/usage?days=0")).status).toBe(400);
    const insights = await t.json<InsightsAnswer>("/api/insights");
    expect(insights.skills).toEqual(overview);
    expect(insights.totals.sessions).toBe(3);
  });

  it("counts a skill typed after a slash, as Claude Code writes it: its message comes before its name", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "notes"));
    await writeTree(join(t.home, ".claude/projects/-w-app"), {
      "s1.jsonl": claudeLog("s1", "/w/app", [
        "<command-message>notes is running…</command-message>\n<command-name>/notes</command-name>",
        "<command-message>notes</command-message>\n<command-name>/notes</command-name>\n<command-args>on x</command-args>",
        "<command-message>tour</command-message>\n<command-name>/tour</command-name>",
        "/w/app/notes is the folder",
      ]),
    });
    await importAll(t);
    expect((await t.json<SkillDetail>("/api/skills/notes")).use).toMatchObject({ invocations: 2, sessions: 1 });
    const { used, notInstalled } = await t.json<SkillsOverview>("/api/skills/usage");
    expect([used.map((one) => one.invocations), notInstalled]).toEqual([[2], []]);
  });

  it("counts what a resumed session copied once, at the session it came from", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "notes"));
    const steps: Parameters<typeof claudeLog>[2] = [
      "hello",
      ["Skill", { skill: "notes" }],
      ["Skill", { skill: "notes" }, true],
      "<command-message>notes</command-message>\n<command-name>/notes</command-name>",
    ];
    const logs = join(t.home, ".claude/projects/-w-app");
    const first = claudeLog("s1", "/w/app", steps);
    await writeTree(logs, { "s1.jsonl": first });
    await importAll(t);
    // A resumed session begins with the rows of the one before, under its own name.
    const more = claudeLog("s2", "/w/app", [["Skill", { skill: "notes" }]]);
    const copied = `${first.replaceAll('"sessionId":"s1"', '"sessionId":"s2"')}${more}`;
    await writeTree(logs, { "s2.jsonl": copied });
    await t.send("POST", "/api/sync?wait=1");
    const { use, usage } = await t.json<SkillDetail>("/api/skills/notes");
    expect(use).toMatchObject({ invocations: 4, failures: 1, sessions: 2 });
    expect(usage.invocations).toBe(4);
    expect(use.recent.map((one) => [one.sessionId, one.invocations])).toEqual([
      ["claude-code:-w-app:s2", 1],
      ["claude-code:-w-app:s1", 3],
    ]);
    // A copy without anything new in it uses nothing.
    await writeTree(logs, { "s3.jsonl": first.replaceAll('"sessionId":"s1"', '"sessionId":"s3"') });
    await t.send("POST", "/api/sync?wait=1");
    const again = await t.json<SkillDetail>("/api/skills/notes");
    expect(again.use).toMatchObject({ invocations: 4, sessions: 2 });
    expect((await t.json<SkillsOverview>("/api/skills/usage")).used).toMatchObject([
      { skill: "notes", invocations: 4 },
    ]);
  });

  it("follows a log that grows, a result that comes later, and sessions that are removed", async () => {
    const t = await skillKernel();
    await importSkill(t, await plant(t.home, ".claude/skills", "notes"));
    const path = join(t.home, ".claude/projects/-w-app/s1.jsonl");
    const whole = claudeLog("s1", "/w/app", [
      "hello",
      ["Skill", { skill: "notes" }, true],
      ["Skill", { skill: "notes" }],
    ]).split("\n");
    await mkdir(join(path, ".."), { recursive: true });
    const readUse = async () => {
      const { use } = await t.json<SkillDetail>("/api/skills/notes");
      return [use.invocations, use.failures, use.sessions];
    };
    await writeFile(path, `${whole.slice(0, 2).join("\n")}\n`);
    await importAll(t);
    expect(await readUse()).toEqual([1, 0, 1]);
    await writeFile(path, `${whole.slice(0, 3).join("\n")}\n`);
    await t.send("POST", "/api/sync?wait=1");
    expect(await readUse()).toEqual([1, 1, 1]);
    await writeFile(path, whole.join("\n"));
    await t.send("POST", "/api/sync?wait=1");
    expect(await readUse()).toEqual([2, 1, 1]);
    await t.fetch("/api/sessions/claude-code:-w-app:s1", { method: "DELETE" });
    expect(await readUse()).toEqual([0, 0, 0]);
  });
});
