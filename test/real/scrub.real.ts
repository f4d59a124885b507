/**
 * A scrubbed session in the real tools: a secret that was typed and printed is removed from the tool's own log, the tool resumes the session,
 * and no request has the secret any more; the log goes on, and a sync neither loses a turn nor brings the secret back.
 */
import { readdir, readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import type { LeakPage, Scrubbed, ScrubState } from "../../plugins/security/index.ts";
import { createTestKernel } from "../kernel.ts";
import { letters } from "../security/_samples.ts";
import type { Driven } from "./drive.ts";
import type { ModelRequest } from "./model/script.ts";
import { isPicked } from "./picked.ts";
import { tell } from "./read.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { codex } from "./tools/codex.ts";

const SECRET = `ghp_${letters(36, 77)}`;
const CASES = [
  { driver: claudeCode, logs: ".claude/projects" },
  { driver: codex, logs: ".codex/sessions" },
].filter(({ driver }) => isPicked(driver));

const table: string[] = [];
afterAll(() => console.log(table.join("\n")));

/** Every row of the tool's logs. */
async function readLogs({ home }: Driven, folder: string): Promise<Map<string, string>> {
  const names = (await readdir(join(home, folder), { recursive: true })).filter((name) => name.endsWith(".jsonl"));
  const texts = await Promise.all(names.map((name) => readFile(join(home, folder, name), "utf8")));
  return new Map(names.map((name, n) => [join(home, folder, name), texts[n] ?? ""]));
}

describe.skipIf(CASES.length === 0)("a scrubbed session in the real tools", () => {
  it.each(CASES)("$driver.name", async ({ driver, logs }) => {
    const { model, tool } = await stage(driver, { files: { "token.txt": `${SECRET}\n` } });
    const bodies: string[] = [];
    const asked = ({ body }: ModelRequest) => void bodies.push(JSON.stringify(body));
    model.play({
      main: [
        { calls: [driver.words.shell("cat token.txt")], asked },
        { text: `It is ${SECRET}, as the heron says.`, asked },
      ],
    });
    const first = await tool.run({ prompt: `Is ${SECRET} in token.txt?` });
    expect(first.code, first.stderr + first.stdout).toBe(0);
    expect(bodies.at(-1)).toContain(SECRET);
    const key = (await driver.sessionId(first, tool)) ?? "";
    const before = await readLogs(tool, logs);
    expect([...before.values()].join("")).toContain(SECRET);
    // A log that was written a moment ago may be that of a session that runs.
    const time = new Date(Date.now() - 3_600_000);
    for (const path of before.keys()) await utimes(path, time, time);

    const t = await createTestKernel({ home: tool.home, plugins: defaultPlugins(), env: { ...tool.env } });
    onTestFinished(() => t.close());
    await t.send("POST", "/api/import", { all: true });
    const { leaks } = await t.json<LeakPage>("/api/security/leaks?whole=1");
    const ids = leaks.map(({ id }) => id);
    await t.send("POST", "/api/security/leaks/mark", { ids, state: "rotated" });
    const { status, body } = await t.send<Scrubbed>("POST", "/api/security/scrub", { originals: true });
    expect(status, JSON.stringify(body)).toBe(200);
    expect(body.left).toEqual([]);
    expect(body.originals.length).toBeGreaterThan(0);
    const places = body.originals.reduce((sum, { count }) => sum + count, 0);
    const scrubbed = await readLogs(tool, logs);
    for (const [path, text] of before) {
      expect(scrubbed.get(path)).toHaveLength(text.length);
      expect(scrubbed.get(path)).toBe(text.replaceAll(SECRET, "*".repeat(SECRET.length)));
    }

    bodies.length = 0;
    model.play({ main: [{ text: "The crane says krr.", asked }] });
    const resumed = await tool.run({ prompt: "And the crane?", resume: key });
    expect(resumed.code, resumed.stderr + resumed.stdout).toBe(0);
    const requests = bodies.join("\n");
    expect(requests).not.toContain(SECRET);
    for (const turn of ["in token.txt?", "as the heron says.", "And the crane?"]) expect(requests).toContain(turn);
    const after = await readLogs(tool, logs);
    expect([...after.values()].join("")).not.toContain(SECRET);
    expect([...after.values()].join("")).toContain("The crane says krr.");

    await t.send("POST", "/api/sync?wait=1");
    // Its assistant has written on: the copy with the secret is gone.
    expect((await t.json<ScrubState>("/api/security/scrub")).backups).toEqual([]);
    expect((await t.json<LeakPage>("/api/security/leaks?whole=1&state=all")).leaks).toEqual([]);
    await t.close();
    const told = await tell(tool.home);
    const prompts = [`Is ${"*".repeat(SECRET.length)} in token.txt?`, "And the crane?"];
    expect(told.prompts.map((text) => text.trim().replace(/^"|"$/g, "")).sort()).toEqual(prompts.sort());
    const spent = model.ledger.filter((entry) => driver.unlogged?.(entry) === undefined);
    expect(told.tokens.output).toBe(spent.reduce((sum, { tokens }) => sum + tokens.output, 0));
    table.push([driver.name, tool.version, `${places} places scrubbed, resumed`].join(" | "));
  });
});
