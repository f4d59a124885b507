import { execFileSync } from "node:child_process";
import { cpSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it } from "vitest";
import { tokensIn } from "../../plugins/rescue/handoff/fit.ts";
import { wordsFor } from "../../plugins/rescue/handoff/words.ts";
import type { Brief } from "../../plugins/rescue/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";
import { SHAPES } from "../security/_engine.ts";
import { type Row, SESSION, toLog } from "../security/_kernel.ts";
import { createRandom, toSample } from "../security/_samples.ts";

const PATH = `.claude/projects/-w-app/${SESSION.split(":")[1]}.jsonl`;

async function startWith(rows: readonly Row[], cwd: string, home: string): Promise<TestKernel> {
  const file = join(home, PATH);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, toLog(rows, cwd, "main"));
  const t = await createTestKernel({ home, plugins: defaultPlugins() });
  const { status } = await t.send("POST", "/api/import", { all: true });
  expect(status).toBe(200);
  return t;
}
const brief = (t: TestKernel, query = "", id = SESSION) =>
  t.json<Brief>(`/api/sessions/${encodeURIComponent(id)}/handoff?${query}`);

/** A session that reads, decides, edits, fails and leaves something to do. */
const rowsIn = (cwd: string, say: (text: string) => string = (text) => text): Row[] => [
  { role: "user", text: say("Make the tide table load faster. It takes four seconds.") },
  { role: "call", name: "Read", input: { file_path: `${cwd}/src/load.ts` }, id: "r1" },
  { role: "result", id: "r1", text: "export const load = () => fetchAll();" },
  { role: "assistant", text: say("I decided to read only the current month instead of all years.") },
  {
    role: "call",
    name: "Edit",
    input: { file_path: `${cwd}/src/load.ts`, old_string: "fetchAll()", new_string: "fetchMonth()" },
    id: "e1",
  },
  { role: "result", id: "e1", text: "ok" },
  { role: "call", name: "Write", input: { file_path: `${cwd}/src/month.ts`, content: "x" }, id: "e2" },
  { role: "result", id: "e2", text: "ok" },
  {
    role: "call",
    name: "TodoWrite",
    input: {
      todos: [
        { content: say("Write the test of a month"), status: "pending" },
        { content: "Change the loader", status: "completed" },
      ],
    },
    id: "d1",
  },
  { role: "result", id: "d1", text: "ok" },
  { role: "call", name: "Bash", input: { command: say("npm run lint") }, id: "b0" },
  { role: "result", id: "b0", text: "fine" },
  { role: "call", name: "Bash", input: { command: say("npm test -- tides") }, id: "b1" },
  { role: "result", id: "b1", text: say("Error: fetchMonth is not defined"), failed: true },
  { role: "user", text: say("Now fix the failing test and nothing else.") },
  { role: "assistant", text: say("The test fails since fetchMonth is missing. I am about to add it.") },
];

describe("a brief", () => {
  it("says goal, request, files by git, the failing command, open to-dos and decisions, the same each time", async () => {
    const home = await makeTempDir();
    const cwd = join(home, "tides");
    await mkdir(join(cwd, "src"), { recursive: true });
    await writeFile(join(cwd, "src/load.ts"), "before");
    const git = (...args: string[]) =>
      execFileSync("git", ["-c", "user.name=A", "-c", "user.email=a@b.c", ...args], { cwd });
    git("init", "-q", "-b", "main");
    git("add", ".");
    git("commit", "-qm", "start");
    await writeFile(join(cwd, "src/load.ts"), "after");
    await writeFile(join(cwd, "src/month.ts"), "new");
    const t = await startWith(rowsIn(cwd), cwd, home);
    const { text, tokens } = await brief(t);
    expect(text).toBe((await brief(t)).text);
    expect(tokens).toBe(tokensIn(text));
    for (const part of [
      "# Continue this work",
      "Branch main",
      "## Goal\nMake the tide table load faster.",
      "## Latest request\nNow fix the failing test and nothing else.",
      "src/load.ts (changed since the last commit)",
      "src/month.ts (not in git)",
      "$ npm test -- tides\nError: fetchMonth is not defined",
      "## Open to-dos\n- Write the test of a month",
      "I decided to read only the current month instead of all years.",
      "## Where it stopped\nThe test fails since fetchMonth is missing.",
      "← src/load.ts",
    ])
      expect(text).toContain(part);
    expect(text).not.toContain("Change the loader");
    expect(text).not.toContain("npm run lint");
    git("add", ".");
    git("commit", "-qm", "more");
    await rm(join(cwd, "src/month.ts"));
    const later = (await brief(t)).text;
    expect(later).toContain("src/load.ts (as in the last commit)");
    expect(later).toContain("src/month.ts (not there any more)");
  });

  it("has its headings in the language of the prompts", () => {
    expect(wordsFor("Bitte mach die Tabelle schneller und lass den Rest").title).toBe("Diese Arbeit fortsetzen");
    expect(wordsFor("表の読み込みを速くしてください").title).toBe("この作業を続ける");
    expect(wordsFor("请让表格加载更快").title).toBe("继续这项工作");
    expect(wordsFor("Please make the table load faster").title).toBe("Continue this work");
    expect(wordsFor("Rends le tableau plus rapide").title).toBe("Continue this work");
  });

  it("holds none of 300 planted secrets", async () => {
    const random = createRandom(32);
    const planted: { bare: string; text: string }[] = [];
    while (planted.length < 300) {
      for (const { row } of SHAPES) {
        const value = drawn(row.shape, row.entropy ?? 0, random);
        if (value.includes("\n") || planted.length >= 300) continue;
        const name = (row.names?.[0] ?? "value").replaceAll("_", "-");
        const text = row.kind === "assignment" ? `{ "${name}_x": "${value}" }` : `x = "${value}"`;
        planted.push({ bare: value.replace(/^https?:\/\/|@.*$/g, ""), text });
      }
    }
    let shown = 0;
    for (let from = 0; from < planted.length; from += 50) {
      const home = await makeTempDir();
      const some = planted.slice(from, from + 50);
      const left = [...some];
      const say = (text: string) => [text, ...left.splice(0, 6).map((one) => one.text)].join("\n");
      const t = await startWith(rowsIn(home, say), home, home);
      for (const budget of [300, 4_000, 32_000]) {
        const { text } = await brief(t, `tokens=${budget}`);
        for (const { bare } of some) expect(text.includes(bare), bare).toBe(false);
        expect(tokensIn(text)).toBeLessThanOrEqual(budget);
        shown += text.match(/REDACTED|•••|\[[a-z-]+#/g)?.length ?? 0;
      }
      await t.close();
    }
    // They were there to be masked.
    expect(shown).toBeGreaterThan(300);
  });

  it("stays within its budget for sessions of every assistant", async () => {
    const home = await makeTempDir();
    const fixtures = fileURLToPath(new URL("../fixtures", import.meta.url));
    for (const [name, folder] of [
      ["claude-code", ".claude"],
      ["codex", ".codex"],
      ["gemini-cli", "."],
      ["copilot", "."],
    ] as const)
      cpSync(join(fixtures, name), join(home, folder), { recursive: true });
    const t = await createTestKernel({ home, plugins: defaultPlugins() });
    await t.send("POST", "/api/import", { all: true });
    const { sessions } = await t.json<{ sessions: { id: string }[] }>("/api/sessions?limit=200");
    expect(sessions.length).toBeGreaterThan(3);
    for (const { id } of sessions)
      for (const budget of [200, 1_000, 4_000]) {
        const { text, tokens } = await brief(t, `tokens=${budget}`, id);
        expect(tokens, id).toBeLessThanOrEqual(budget);
        expect(text.startsWith("# "), id).toBe(true);
      }
    expect((await t.send("GET", "/api/sessions/nope/handoff")).status).toBe(404);
    expect(
      (await t.send("GET", `/api/sessions/${encodeURIComponent(sessions[0]?.id ?? "")}/handoff?to=nope`)).status,
    ).toBe(400);
  });

  it.skipIf(process.platform === "win32")(
    "is printed, and starts the other assistant in the session's folder",
    async () => {
      const home = await makeTempDir();
      const cwd = join(home, "tides");
      const bin = join(home, "bin");
      await mkdir(cwd);
      await mkdir(bin);
      await writeFile(join(bin, "codex"), `#!/bin/sh\nprintf '%s\\n' "$PWD" "$1" > "${home}/started"\n`, {
        mode: 0o755,
      });
      await mkdir(dirname(join(home, PATH)), { recursive: true });
      await writeFile(join(home, PATH), toLog(rowsIn(cwd), cwd, "main"));
      expect((await runCommand(["import"], home)).code).toBe(0);
      const env = { PATH: `${bin}:${process.env.PATH ?? ""}` };
      const printed = await runCommand(["handoff", "last", "--tokens", "500"], home, env);
      expect([printed.code, printed.stdout]).toEqual([0, expect.stringContaining("# Continue this work")]);
      expect((await runCommand(["handoff", "last", "--to", "codex", "--start"], home, env)).code).toBe(0);
      expect(await readFile(join(home, "started"), "utf8")).toMatch(new RegExp(`^${cwd}\n# Continue this work`));
      expect((await runCommand(["handoff", "last", "--start"], home, env)).code).toBe(2);
      expect((await runCommand(["handoff", "last", "--to", "cursor", "--start"], home, env)).code).toBe(1);
    },
  );
});

/** A sample random enough for the rule's own floor. */
function drawn(shape: string, floor: number, random: (below: number) => number): string {
  for (let i = 0; ; i++) {
    const value = toSample(shape, random);
    const counts = new Map<string, number>();
    for (const char of value) counts.set(char, (counts.get(char) ?? 0) + 1);
    const bits = [...counts.values()].reduce((sum, n) => sum - (n / value.length) * Math.log2(n / value.length), 0);
    if (bits > floor + 0.1 || i > 200) return value;
  }
}
