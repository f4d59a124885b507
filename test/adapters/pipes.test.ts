/** A log that became a named pipe: reading it fails at once, for every assistant, and blocks no other log. */
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SessionRef } from "sessarc";
import type { AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import live from "../../plugins/live/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { createTestKernel, testEnv } from "../kernel.ts";

const PIPES: [AdapterPlugin, string][] = [
  [claude(), "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl"],
  [codex(), "rollout-2026-01-01T00-00-00-0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl"],
  [copilot(), "events.jsonl"],
  [copilot(), "chat.json"],
  [cursor(), "chat.txt"],
  [cursor(), "store.db"],
  [gemini(), "session-1.json"],
  [gemini(), "session-1.jsonl"],
  [opencode(), "opencode.db"],
];

describe.skipIf(process.platform === "win32")("a named pipe", () => {
  it.each(PIPES.map(([plugin, name]) => [`${plugin.adapter.name} ${name}`, plugin, name] as const))(
    "%s: reading, peeking and following it end",
    async (_, { adapter }, name) => {
      const home = await makeTempDir();
      const env = testEnv(home);
      const path = join(home, name);
      execFileSync("mkfifo", [path]);
      const ref: SessionRef = { tool: adapter.name, key: "k", path, exclusive: true };
      const ends = async (work: () => unknown) => {
        try {
          const made = await work();
          if (typeof made === "object" && made !== null && Symbol.asyncIterator in made)
            for await (const _ of made as AsyncIterable<unknown>);
        } catch {
          return "refused";
        }
        return "nothing in it";
      };
      expect(await ends(() => adapter.read(ref, env))).toMatch(/refused|nothing/);
      for (const work of [adapter.peek, adapter.tail, adapter.usage]) {
        expect(
          await ends(() => (work as ((...args: unknown[]) => unknown) | undefined)?.call(adapter, ref, undefined, env)),
        ).toMatch(/refused|nothing/);
      }
    },
  );

  it("does not stop the service: others are imported, it is reported, and the archive keeps what it has", async () => {
    const t = await createTestKernel({ plugins: [archive(), claude(), live({})] });
    const log = (n: number) => join(t.home, `.claude/projects/-w-app/aaaaaaaa-0000-4000-8000-00000000000${n}.jsonl`);
    const id = (n: number) => `claude-code:aaaaaaaa-0000-4000-8000-00000000000${n}`;
    mkdirSync(dirname(log(1)), { recursive: true });
    const line = `${JSON.stringify({ type: "user", uuid: "u", timestamp: "2026-01-01T00:00:00Z", message: { role: "user", content: "hi" } })}\n`;
    for (const n of [1, 2]) writeFileSync(log(n), line);
    await t.send("POST", "/api/import", { all: true });
    rmSync(log(1));
    execFileSync("mkfifo", [log(1)]);
    writeFileSync(log(3), line);
    await t.send("POST", "/api/import", { all: true });
    expect(await t.json("/api/status")).toMatchObject({ storage: { sessions: 3 } });
    expect(await t.json(`/api/sessions/${id(1)}/messages`)).toMatchObject({ total: 1 });
    const stream = await t.fetch(`/api/sessions/${id(1)}/live`);
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    expect((await t.fetch(`/api/sessions/${id(1)}/sync`, { method: "POST" })).status).toBe(409);
  });

  it("ends no command, wherever assistants or this program have a file", async () => {
    const home = await makeTempDir();
    const run = (...args: string[]) => runCommand(args, home, { PATH: home });
    const log = join(home, ".claude/projects/-w-app/aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    mkdirSync(dirname(log), { recursive: true });
    writeFileSync(log, "{}\n");
    await run("import");
    const data = ".local/share/sessarc";
    const pipes = [
      ...["settings.json", "history.jsonl", "projects/-w-app/aaaaaaaa-0000-4000-8000-000000000002.jsonl"].map(
        (name) => `.claude/${name}`,
      ),
      ...[".claude.json", ".codex/config.toml", ".codex/hooks.json", ".codex/history.jsonl", ".gemini/settings.json"],
      ".codex/sessions/2026/11/20/rollout-2026-11-20T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl",
      ...["service.json", "login.json", "access.json", "files/statusline/state.json"].map((name) => `${data}/${name}`),
    ].map((path) => join(home, path));
    for (const path of pipes) {
      mkdirSync(dirname(path), { recursive: true });
      rmSync(path, { force: true });
      execFileSync("mkfifo", [path]);
    }
    for (const words of ["status", "usage", "sessions", "import", "rescue", "doctor", "guard status", "mcp configs"]) {
      const { stderr } = await run(...words.split(" "));
      expect([words, /^\s+at /m.test(stderr)]).toEqual([words, false]);
    }
    execFileSync("mkfifo", [join(home, data, "settings.json")]);
    const refused = await run("usage");
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("settings.json")]);
  });
});
