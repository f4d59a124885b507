/** `doctor` names an assistant whose logs are of a newer version than the newest that was tried, and where to report what is wrong. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import claudeCode from "../../plugins/claude-code/index.ts";
import cline from "../../plugins/cline/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import qwen from "../../plugins/qwen/index.ts";
import { makeTempDir } from "../_setup.ts";
import { writeTables } from "../adapters/_store.ts";
import { runCommand, serveHere } from "../command.ts";

const ID = "5e550000-0000-4000-8000-000000000001";
const now = "2026-11-20T09:00:00.000Z";
const lines = (rows: readonly object[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join("");
const claude = (version: unknown, n = 0) => ({
  type: "user",
  uuid: `u${n}`,
  sessionId: ID,
  cwd: "/w/app",
  version,
  timestamp: now,
  message: { role: "user", content: "Go" },
});

/** What each assistant writes: a session of this version. */
const LOGS = {
  "claude-code": (version: unknown) => ({
    path: `.claude/projects/-w-app/${ID}.jsonl`,
    // The first row is of an older one, which went on as this version.
    text: lines([claude("1.0.98"), claude(version, 1)]),
  }),
  codex: (cli_version: unknown) => ({
    path: `.codex/sessions/2026/11/20/rollout-2026-11-20T09-00-00-${ID}.jsonl`,
    text: lines([
      { timestamp: now, type: "session_meta", payload: { id: ID, timestamp: now, cwd: "/w/app", cli_version } },
      { timestamp: now, type: "event_msg", payload: { type: "user_message", message: "Go" } },
    ]),
  }),
  copilot: (copilotVersion: unknown) => ({
    path: `.copilot/session-state/${ID}/events.jsonl`,
    text: lines([
      { type: "session.start", id: "a", timestamp: now, data: { sessionId: ID, version: 1, copilotVersion } },
      { type: "user.message", id: "b", timestamp: now, data: { content: "Go" } },
    ]),
  }),
  qwen: (version: unknown) => ({
    path: `.qwen/projects/-w-app/chats/${ID}.jsonl`,
    text: lines([
      {
        uuid: "u",
        sessionId: ID,
        timestamp: now,
        cwd: "/w/app",
        type: "user",
        version,
        message: { parts: [{ text: "Go" }] },
      },
    ]),
  }),
  cline: (version: unknown) => ({
    path: `.cline/data/sessions/${ID}/${ID}.json`,
    text: JSON.stringify({
      session_id: ID,
      cwd: "/w/app",
      metadata: { sessionHistoryOrigin: { mode: "user", version } },
    }),
  }),
} as const;
const write = async (home: string, { path, text }: { path: string; text: string }) => {
  await mkdir(dirname(join(home, path)), { recursive: true });
  await writeFile(join(home, path), text);
};

async function doctor(home: string): Promise<string[]> {
  expect((await runCommand(["import"], home)).code).toBe(0);
  const { stdout, code } = await runCommand(["doctor"], home);
  expect(code).toBe(0);
  const said = stdout.split("\n");
  const at = said.findIndex((line) => line.includes("versions"));
  return at < 0 ? [] : said.slice(at, at + 2);
}

const PLUGINS = { "claude-code": claudeCode, codex, copilot, qwen, cline, opencode };
const toAdapter = (name: keyof typeof PLUGINS) => PLUGINS[name](undefined).adapter;
const tried = (name: keyof typeof PLUGINS) => toAdapter(name).tried ?? "";
/** The same version with a larger number in its second place, which a comparison of texts would take for an older one. */
const newer = (version: string) =>
  version.replace(/^(\d+)\.(\d+)/, (_, major, minor) => `${major}.${Number(minor) + 1000}`);

describe("versions of assistants", () => {
  it.each(["claude-code", "codex", "copilot", "qwen", "cline"] as const)(
    "names a newer %s, and nothing else",
    async (name) => {
      const home = await makeTempDir();
      const version = newer(tried(name));
      await write(home, LOGS[name](version));
      if (name === "cline")
        await writeFile(join(home, LOGS.cline("").path.replace(/\.json$/, ".messages.json")), '{"messages":[]}');
      const [line, fix] = await doctor(home);
      const { label } = toAdapter(name);
      expect(line).toMatch(/^warn {2}versions/);
      expect(line).toContain(`${label} ${version} (tried: ${tried(name)})`);
      expect(line?.match(/\(tried: /g)).toHaveLength(1);
      expect(fix).toContain("https://github.com/sessarc/sessarc/issues");
    },
  );

  it("names a newer OpenCode by its database", async () => {
    const home = await makeTempDir();
    const version = newer(tried("opencode"));
    const time = Date.parse(now);
    const message = { id: "m", session_id: "s", time_created: time, time_updated: time, data: '{"role":"user"}' };
    const session = { id: "s", directory: "/w", title: "T", version, time_created: time, time_updated: time };
    await writeTables(join(home, ".local/share/opencode/opencode.db"), {
      session: [session],
      message: [message],
      part: [{ ...message, id: "p", message_id: "m", data: '{"type":"text","text":"Go"}' }],
    });
    expect((await doctor(home))[0]).toContain(`OpenCode ${version}`);
  });

  it("is quiet for versions that were tried, older ones, and text that is not a version", async () => {
    for (const version of ["tried", "0.0.0", "v0.1", "dev", "", 7, "9".repeat(400), "\u001b[31m99.0.0", null]) {
      const home = await makeTempDir();
      for (const name of ["claude-code", "codex", "copilot", "qwen"] as const)
        await write(home, LOGS[name](version === "tried" ? `${tried(name)}-beta.1` : version));
      expect([version, await doctor(home)]).toEqual([version, []]);
    }
  });

  it("names them while the service runs, with what it imported since", async () => {
    const home = await makeTempDir();
    await write(home, LOGS.codex("99.9.0"));
    expect((await runCommand(["import"], home)).code).toBe(0);
    const service = await serveHere(["--no-import"], home);
    expect((await doctor(home))[0]).toContain("Codex CLI 99.9.0");
    await write(home, LOGS.qwen("a build of one's own"));
    expect((await doctor(home))[0]).not.toContain("Qwen");
    await write(home, LOGS["claude-code"]("99.10.0"));
    const [line, fix] = await doctor(home);
    expect(line).toMatch(/Claude Code 99\.10\.0 \(tried: [\d.]+\), Codex CLI 99\.9\.0 \(tried: [\d.]+\)/);
    expect(fix).toContain("https://github.com/sessarc/sessarc/issues");
    await write(home, LOGS.qwen("99.0.0"));
    expect((await doctor(home))[0]).toContain("Qwen Code 99.0.0");
    await service.stop();
  });

  it("names the newest of many, by the rows that were added too", async () => {
    const home = await makeTempDir();
    await write(home, LOGS.codex("99.9.0"));
    await write(home, LOGS["claude-code"]("2.1.0"));
    expect((await doctor(home))[0]).toContain("Codex CLI 99.9.0");
    const { path, text } = LOGS["claude-code"]("2.1.0");
    await write(home, { path, text: text + lines([claude("99.10.0", 2)]) });
    const second = LOGS.codex("99.10.0");
    await write(home, {
      path: second.path.replace(/1\.jsonl$/, "2.jsonl"),
      text: second.text.replaceAll(ID, `${ID.slice(0, -1)}2`),
    });
    const [line] = await doctor(home);
    expect(line).toMatch(/Claude Code 99\.10\.0 \(tried: [\d.]+\), Codex CLI 99\.10\.0 \(tried: [\d.]+\)/);
  });
});
