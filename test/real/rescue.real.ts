/**
 * Rescue in the real tools: a session is made and imported, its log and the tool's index entry are deleted, it is put back, and the tool
 * resumes it with the earlier turns in its request. The same into another folder.
 */
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { Rescued, RescuePlan } from "../../plugins/rescue/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import type { Driven } from "./drive.ts";
import { isPicked } from "./picked.ts";
import { tell } from "./read.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";
import { copilot } from "./tools/copilot.ts";
import { geminiCli } from "./tools/gemini-cli.ts";
import { opencode } from "./tools/opencode.ts";
import { pi } from "./tools/pi.ts";
import type { Driver } from "./tools/types.ts";

interface Case {
  driver: Driver;
  /** Deletes the log and whatever the tool's index says of it. */
  lose(tool: Driven, key: string): Promise<unknown>;
  /** Why there is no copy for another folder. */
  noCopy?: string;
  /** How the archive's key is resumed, where that is not the driver's way. */
  resume?(key: string): string;
}

const remove = (tool: Driven, ...path: string[]) => rm(join(tool.home, ...path), { recursive: true, force: true });

async function withoutEntry(tool: Driven, path: string): Promise<void> {
  const file = join(tool.home, path);
  const value = JSON.parse(await readFile(file, "utf8")) as { projects: Record<string, string> };
  delete value.projects[tool.cwd];
  await writeFile(file, JSON.stringify(value));
}

const CASES: readonly Case[] = [
  { driver: claudeCode, lose: (tool) => remove(tool, ".claude/projects") },
  {
    driver: codex,
    async lose(tool) {
      await remove(tool, ".codex/sessions");
      for (const name of await readdir(join(tool.home, ".codex")))
        if (/\.sqlite|session_index/.test(name)) await remove(tool, ".codex", name);
    },
  },
  {
    driver: geminiCli,
    resume: (key) => key,
    async lose(tool) {
      await remove(tool, ".gemini/tmp");
      await withoutEntry(tool, ".gemini/projects.json");
    },
  },
  { driver: copilot, lose: (tool) => remove(tool, ".copilot/session-state") },
  { driver: pi, lose: (tool) => remove(tool, ".pi/agent/sessions") },
  {
    driver: opencode,
    noCopy: "OpenCode",
    lose: (tool, key) => tool.command(["session", "delete", key]).ended,
  },
];

const table: string[] = [];
afterAll(() => console.log(table.join("\n")));

/** Sessions, tokens and prompts of the archive. */
interface Figures {
  id: string;
  usage: object;
  messageCount: number;
  source: { missing: boolean };
}
const figures = async (t: TestKernel) =>
  (await t.json<{ sessions: Figures[] }>("/api/sessions?limit=100")).sessions.map(({ id, usage, messageCount }) => ({
    id,
    usage,
    messageCount,
  }));

describe("rescue in the real tools", () => {
  const cases = CASES.filter(({ driver }) => isPicked(driver));
  it.each(cases)("$driver.name", async ({ driver, lose, noCopy, resume }) => {
    const { model, tool } = await stage(driver);
    model.play({ main: [{ text: "The owl says hoo." }] });
    const first = await tool.run({ prompt: "What does the heron say?" });
    expect(first.code, first.stderr + first.stdout).toBe(0);
    const env = { ...tool.env };
    const kernel = async () => {
      const t = await createTestKernel({ home: tool.home, plugins: defaultPlugins(), env });
      onTestFinished(() => t.close());
      return t;
    };
    const t = await kernel();
    await t.send("POST", "/api/import", { all: true });
    const before = await figures(t);
    expect(before).toHaveLength(1);
    const id = before[0]?.id ?? "";
    const key = id.slice(id.indexOf(":") + 1);
    const asked = (from: number) => model.ledger.slice(from).flatMap(({ prompts }) => prompts);

    await lose(tool, key);
    await t.send("POST", "/api/sync?wait=1");
    expect((await t.json<{ states: object }>("/api/rescue")).states).toMatchObject({ gone: 1 });
    const { body: planned } = await t.send<{ plans: RescuePlan[] }>("POST", "/api/rescue/plan", { sessions: [id] });
    expect(planned.plans).toMatchObject([{ reason: null }]);
    const { status, body } = await t.send<{ rescued: Rescued[] }>("POST", "/api/rescue/restore", { sessions: [id] });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(await figures(t)).toEqual(before);
    const again = await t.send<{ rescued: Rescued[] }>("POST", "/api/rescue/restore", { sessions: [id] });
    expect(again.body.rescued[0]?.written).toEqual([]);
    const gone = async () => (await t.json<{ states: { gone: number } }>("/api/rescue")).states.gone;
    expect((await t.send("POST", "/api/rescue/undo", { session: id })).status).toBe(200);
    expect(await gone()).toBe(1);
    expect((await t.send("POST", "/api/rescue/restore", { sessions: [id] })).status).toBe(200);
    expect([await gone(), await figures(t)]).toEqual([0, before]);

    let from = model.ledger.length;
    model.play({ main: [{ text: "The crane says krr." }] });
    const resumed = await tool.run({ prompt: "And the crane?", resume: resume?.(key) ?? key });
    expect(resumed.code, resumed.stderr + resumed.stdout).toBe(0);
    expect(asked(from).join("\n")).toContain("What does the heron say?");
    expect(asked(from).join("\n")).toContain("And the crane?");

    let copied = noCopy === undefined ? "" : "no copy";
    if (noCopy === undefined) {
      // The copy is of the session as it is after a resume.
      await t.send("POST", "/api/sync?wait=1");
      const folder = join(tool.home, "work", "moved");
      await mkdir(folder, { recursive: true });
      const made = await t.send<{ rescued: Rescued[] }>("POST", "/api/rescue/restore", { sessions: [id], folder });
      expect(made.status, JSON.stringify(made.body)).toBe(200);
      const copy = made.body.rescued[0]?.copy ?? "";
      const copyKey = copy.slice(copy.indexOf(":") + 1);
      from = model.ledger.length;
      model.play({ main: [{ text: "The stork says nothing." }] });
      const args = driver.args({ prompt: "And the stork?", resume: copyKey }, { ...tool, cwd: folder });
      const there = await tool.command(args, {}, folder).ended;
      expect(there.code, there.stderr + there.stdout).toBe(0);
      for (const turn of ["What does the heron say?", "And the crane?", "And the stork?"])
        expect(asked(from).join("\n")).toContain(turn);
      copied = "copied after a resume";
    } else {
      const made = await t.send<{ plans: RescuePlan[] }>("POST", "/api/rescue/plan", {
        sessions: [id],
        folder: tool.home,
      });
      expect(made.body.plans[0]?.reason).toContain(noCopy);
    }
    await t.close();
    const told = await tell(tool.home);
    const prompts = ["What does the heron say?", "And the crane?", ...(noCopy === undefined ? ["And the stork?"] : [])];
    expect(told.prompts.map((text) => text.trim().replace(/^"|"$/g, "")).sort()).toEqual(prompts.sort());
    const spent = model.ledger.filter((entry) => driver.unlogged?.(entry) === undefined);
    expect(told.tokens.output).toBe(spent.reduce((sum, { tokens }) => sum + tokens.output, 0));
    expect(told.tokens.input).toBe(spent.reduce((sum, { tokens }) => sum + tokens.input, 0));
    table.push([driver.name, tool.version, "restored, resumed", copied, `${told.sessions} sessions`].join(" | "));
  });
});

/** Assistants that fork without a screen. */
const FORKING = CASES.filter(
  ({ driver, noCopy }) => noCopy === undefined && driver.cannot?.fork === undefined && isPicked(driver),
);

describe.skipIf(FORKING.length === 0)("a copy of a fork in the real tools", () => {
  it.each(FORKING)("$driver.name", async ({ driver }) => {
    const { model, tool } = await stage(driver);
    model.play({ main: [{ text: "The owl says hoo." }, { text: "The crane says krr." }] });
    const first = await tool.run({ prompt: "What does the heron say?" });
    expect(first.code, first.stderr + first.stdout).toBe(0);
    const session = (await driver.sessionId(first, tool)) ?? "";
    const fork = await tool.run({ prompt: "And the crane?", resume: session, fork: true });
    expect(fork.code, fork.stderr + fork.stdout).toBe(0);
    const t = await createTestKernel({ home: tool.home, plugins: defaultPlugins(), env: { ...tool.env } });
    onTestFinished(() => t.close());
    await t.send("POST", "/api/import", { all: true });
    const { sessions } = await t.json<{ sessions: { id: string }[] }>("/api/sessions?limit=100");
    const forked = sessions.find(({ id }) => !id.endsWith(`:${session}`))?.id ?? "";
    const folder = join(tool.home, "work", "moved");
    await mkdir(folder, { recursive: true });
    const made = await t.send<{ rescued: Rescued[] }>("POST", "/api/rescue/restore", { sessions: [forked], folder });
    expect(made.status, JSON.stringify(made.body)).toBe(200);
    const copy = made.body.rescued[0]?.copy ?? "";
    const from = model.ledger.length;
    model.play({ main: [{ text: "The stork says nothing." }] });
    const args = driver.args(
      { prompt: "And the stork?", resume: copy.slice(copy.indexOf(":") + 1) },
      { ...tool, cwd: folder },
    );
    const there = await tool.command(args, {}, folder).ended;
    expect(there.code, there.stderr + there.stdout).toBe(0);
    const said = model.ledger
      .slice(from)
      .flatMap(({ prompts }) => prompts)
      .join("\n");
    for (const turn of ["What does the heron say?", "And the crane?", "And the stork?"]) expect(said).toContain(turn);
    table.push([driver.name, tool.version, "fork copied, resumed"].join(" | "));
  });
});
