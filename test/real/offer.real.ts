/**
 * What the hooks of `sessarc recall install` put into the requests of the real tools: at a start, with a command that failed before, with the
 * change of a file; nothing where nothing is good enough, and nothing from a service that is down or slow. The table at the end has seconds.
 */
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { defaultPlugins } from "sessarc/plugins";
import { afterAll, describe, expect, it } from "vitest";
import type { Offered } from "../../plugins/recall/index.ts";
import { serveTest } from "../_setup.ts";
import { toTrustHash } from "../codex-trust.ts";
import { edit, fails, says, shell, type TestSession, user, writeSessions } from "../recall/sessions.ts";
import { makeTrouble } from "../security/_service.ts";
import type { Driven } from "./drive.ts";
import type { Call } from "./model/script.ts";
import type { ModelServer } from "./model/server.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { CLASSIC, codex } from "./tools/codex.ts";
import { geminiCli } from "./tools/gemini-cli.ts";
import type { Driver } from "./tools/types.ts";

interface Case {
  driver: Driver;
  settings: string;
  model?: string;
  trust?(tool: Driven): Promise<void>;
  /** The assistant refuses, before it asks a hook, to change a file that it did not read. */
  read?(path: string): Call;
}

const CODEX = { PreToolUse: "pre_tool_use", SessionStart: "session_start" };

/** As Codex's own /hooks does it. */
async function trustHooks({ home }: Driven): Promise<void> {
  const [path, config] = [join(home, ".codex", "hooks.json"), join(home, ".codex", "config.toml")];
  const { hooks } = JSON.parse(await readFile(path, "utf8"));
  const states = Object.entries(CODEX).map(([list, event]) => {
    const [entry] = hooks[list];
    return `\n[hooks.state."${path}:${event}:0:0"]\ntrusted_hash = "${toTrustHash(entry, entry.hooks[0], event)}"\n`;
  });
  await writeFile(config, (await readFile(config, "utf8")) + states.join(""));
}

const CASES: readonly Case[] = [
  {
    ...{ driver: claudeCode, settings: ".claude/settings.json" },
    read: (path) => ({ name: "Read", input: { file_path: path } }),
  },
  { driver: codex, settings: ".codex/hooks.json", model: CLASSIC, trust: trustHooks },
  { driver: geminiCli, settings: ".gemini/settings.json" },
];

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const past = (cwd: string): TestSession[] => [
  {
    ...{ n: 1, cwd, at: daysAgo(3) },
    turns: [
      user("run the migrations"),
      fails("./migrate.sh", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
      shell("docker compose up -d"),
      shell("./migrate.sh"),
      edit(join(cwd, "README.md")),
      says("I'll keep the title short because the badge needs the room."),
      fails("npx vitest run test/cache.test.ts", "AssertionError: expected 3 to be 2"),
    ],
  },
];

/** What the model must read of each moment. */
const START = "failed when it was run last:";
const COMMAND = "it worked after ";
const FILE = "was changed last with this decision:";
const MARK = "sessarc recall (";

const rows: string[] = [];

describe.each(CASES.filter(({ driver }) => isPicked(driver)))(
  "offer: $driver.name",
  ({ driver, settings, ...more }) => {
    it("offers to the model, is silent, fails open, and leaves the settings as they were", async () => {
      const { model, tool } = await stage(driver);
      const served = await serveTest({ plugins: defaultPlugins(), home: tool.home, flags: { sync: false } });
      const send = async (path: string, method = "POST", body: object = {}) => {
        const headers = { "content-type": "application/json" };
        return (
          await served.kernel.fetch(path, { method, headers, ...(method !== "GET" && { body: JSON.stringify(body) }) })
        ).json();
      };
      await writeSessions(tool.home, past(tool.cwd));
      await send("/api/import", "POST", { all: true });
      const file = join(tool.home, settings);
      const words = driver.words;
      const fix: Call = words.shell("./migrate.sh");
      const change: Call = words.edit(tool, "README.md", "# App", "# The app");
      const read = more.read ? [more.read(join(tool.cwd, "README.md"))] : [];
      const other: Call = words.shell("echo other");

      const without = await attempt(tool, model, [other, other], more.model);
      expect(without.bodies.join("")).not.toContain(MARK);
      // Some assistants write settings at their first start.
      const before = existsSync(file) ? await readFile(file) : undefined;

      await send("/api/recall/install", "POST", { tool: driver.name });
      await more.trust?.(tool);
      await expect
        .poll(async () => (await served.kernel.storage.db.all("select project from recall_answer")).length, {
          timeout: 60_000,
        })
        .toBe(1);

      const { bodies } = await attempt(tool, model, [fix, ...read, change], more.model);
      const [first = "", second = ""] = bodies;
      const last = bodies.at(-1) ?? "";
      expect.soft(count(first, MARK)).toBe(1);
      expect.soft(first).toContain(START);
      expect.soft(first).not.toContain(COMMAND);
      expect.soft(second).toContain(COMMAND);
      expect.soft(last).toContain(FILE);
      expect.soft(count(last, MARK)).toBe(3);

      const { offered } = (await send("/api/recall/log", "GET")) as {
        offered: Offered[];
      };
      const said = offered.map(({ moment }) => moment).sort();
      expect.soft(said).toEqual(["command", "file", "start"]);

      // Nothing is good enough: a command that is not known, after the start's line.
      const quiet = await attempt(tool, model, [other, other], more.model);
      expect.soft(count(quiet.bodies[2] ?? "", MARK)).toBe(1);

      const cells = [quiet.ms];
      await served.close();
      for (const trouble of ["down", "hanging", "slow"] as const) {
        await makeTrouble(join(tool.home, "data"), trouble);
        const ran = await attempt(tool, model, [fix, change], more.model);
        expect.soft(ran.bodies.join(""), trouble).not.toContain(MARK);
        cells.push(ran.ms);
      }
      const again = await serveTest({ plugins: defaultPlugins(), home: tool.home, flags: { sync: false } });
      await again.kernel.fetch(`/api/recall/install?tool=${driver.name}`, { method: "DELETE" });
      const after = existsSync(file) ? await readFile(file) : undefined;
      expect(after?.toString("latin1")).toBe(before?.toString("latin1"));
      rows.push(
        `| ${driver.name} ${tool.version} | ${said.join(", ")} | ${[without.ms, ...cells].map(toSeconds).join(" | ")} |`,
      );
    }, 900_000);
  },
);

afterAll(() => {
  const head = ["tool", "offered", "without hooks", "up", "down", "hanging", "slow"];
  console.log([`| ${head.join(" | ")} |`, `|${head.map(() => "---").join("|")}|`, ...rows].join("\n"));
});

const count = (text: string, part: string) => text.split(part).length - 1;
const toSeconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** One session with these calls: the body of each request, and how long it took. */
async function attempt(tool: Driven, model: ModelServer, calls: readonly Call[], named: string | undefined) {
  const bodies: string[] = [];
  const asked = ({ body }: { body: unknown }) => void bodies.push(JSON.stringify(body));
  model.play({ main: [...calls.map((call) => ({ calls: [call], asked })), { text: "done", asked }] });
  const ran = await tool.run({ prompt: "Do it", ...(named ? { model: named } : {}) });
  if (bodies.length !== calls.length + 1)
    throw new Error(`The model was asked ${bodies.length} times; exit ${ran.code}: ${ran.stderr.slice(-2_000)}`);
  return { bodies, ms: ran.ms };
}
