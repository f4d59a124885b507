import { mkdir, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionEvent } from "sessarc";
import claudeCode from "sessarc/plugins/claude-code";
import { describe, expect, it } from "vitest";
import { type Bench, withBench } from "../adapter/bench.ts";
import { testAdapter } from "../adapter.ts";
import { serversIn } from "./mcp-servers.ts";

const fixtures = fileURLToPath(new URL("../fixtures/claude-code", import.meta.url));
const MAIN = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
const FORK = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a02";
const plugin = (dir: string) => claudeCode({ dir });
const bench = (work: (bench: Bench) => Promise<void>) => withBench({ plugin, fixtures }, work);

async function readKey(bench: Bench, key: string) {
  const ref = (await bench.scan()).find((found) => found.key === key);
  if (!ref) throw new Error(`no session ${key}`);
  return { ref, ...(await bench.read(ref)) };
}
const texts = (events: SessionEvent[], kind: string) =>
  events.filter((event) => event.kind === kind).map((event) => event.text);

const variable = (name: string) => `\${${name}}`;

describe("adapters: claude-code", () => {
  testAdapter({
    plugin,
    fixtures,
    expect: { sessions: 8, kinds: ["user", "assistant", "thinking", "tool_use", "tool_result", "note"] },
  });

  it("D1: counts a reply once, with its largest output", () =>
    bench(async (bench) => {
      const { summary } = await readKey(bench, MAIN);
      expect(summary.usage).toEqual({
        "claude-sonnet-4-5": { input: 15, output: 130, cacheWrite5m: 100, cacheWrite1h: 20, cacheRead: 2200 },
        "claude-opus-4-5": { input: 7, output: 12, cacheWrite5m: 0, cacheWrite1h: 30, cacheRead: 900 },
      });
      expect(summary.evidence).toEqual({ records: 5, requests: 3, duplicatesFolded: 2, inheritedExcluded: 0 });
      expect(Object.keys(summary.slots ?? {})).toEqual(["2026-11-02T10:00", "2026-11-02T10:15"]);
    }));

  it("tells typed prompts from injected text", () =>
    bench(async (bench) => {
      const { events } = await readKey(bench, MAIN);
      expect(texts(events, "user")).toEqual([
        "Make the parser faster",
        "and keep the tests",
        "What does this picture show?\n[image]",
      ]);
      expect(texts(events, "note")).toEqual([
        "<ide_opened_file>The user opened src/a.ts</ide_opened_file>",
        "Conversation compacted",
        "Summary of what was said.",
        "<command-name>/cost</command-name>",
      ]);
    }));

  it("names the tool on the call and on its result", () =>
    bench(async (bench) => {
      const { events } = await readKey(bench, MAIN);
      const [read, bash] = events.filter((event) => event.kind === "tool_use");
      const [content, failure] = events.filter((event) => event.kind === "tool_result");
      expect(read).toMatchObject({ tool_name: "Read", tool_use_id: "t1", model: "claude-sonnet-4-5" });
      expect(read?.tool_input).toEqual({ file_path: "/home/dev/app/src/a.ts" });
      expect(content).toMatchObject({ tool_name: "Read", tool_use_id: "t1" });
      expect(content?.text).toBe("const a = 1 // \u2028 café 🚀\n[image]");
      expect(bash?.tool_name).toBe("Bash");
      expect(failure).toMatchObject({ tool_name: "Bash", is_error: true });
    }));

  it("takes the title a person gave, and never that of another session", () =>
    bench(async (bench) => {
      expect((await readKey(bench, MAIN)).summary.title).toBe("Faster parser");
      expect((await readKey(bench, FORK)).summary.title).toBe("Another way");
    }));

  it("D2: finds sub-agents in every layout and links them to their session", () =>
    bench(async (bench) => {
      const refs = await bench.scan();
      const parents = Object.fromEntries(refs.map((ref) => [ref.key, ref.parent]));
      expect(parents[`${MAIN}:agent-abc`]).toBe(MAIN);
      expect(parents[`${MAIN}:agent-def`]).toBe(MAIN);
      expect((await readKey(bench, "agent-77aa")).summary.parent).toBe(MAIN);
      const main = refs.find((ref) => ref.key === MAIN);
      expect(main?.companions).toEqual([join(dirname(main?.path ?? ""), MAIN)]);
    }));

  it("D3: one name in several folders is as many sessions, a copy is none", () =>
    bench(async (bench) => {
      const refs = await bench.scan();
      const named = refs.filter((ref) => ref.key.startsWith(FORK));
      expect(named.map((ref) => ref.path.includes("-home-dev-lib"))).toEqual([false, true]);
      expect(named[0]?.key).toBe(FORK);
      expect(refs.filter((ref) => ref.key === MAIN).map((ref) => ref.path.includes("-moved"))).toEqual([false]);
      expect(refs.map((ref) => ref.key)).toEqual(
        expect.arrayContaining(["alpha:session-alpha:chat", "beta:session-alpha:chat"]),
      );
    }));

  it("D21: a fork repeats its parent's reply under the same key", () =>
    bench(async (bench) => {
      const main = await readKey(bench, MAIN);
      const fork = await readKey(bench, FORK);
      const keys = new Set(main.summary.replies?.map((reply) => reply.key));
      expect(fork.summary.replies?.map((reply) => keys.has(reply.key))).toEqual([true, false]);
    }));

  it("follows a linked project folder once, by its real path, and does not call it ours", () =>
    bench(async (bench) => {
      const before = await bench.scan();
      const away = join(dirname(bench.dir), "away");
      const project = join(bench.dir, "projects", "-home-dev-lib");
      await rename(project, away);
      await symlink(away, project);
      await symlink(away, `${project}-too`);
      const after = await bench.scan();
      expect(after).toHaveLength(before.length);
      expect(after.filter((ref) => ref.path.startsWith(away)).map((ref) => ref.exclusive)).toEqual([false]);
    }));

  it("reads where the environment says", () => {
    const { adapter } = claudeCode();
    const home = "/home/nobody";
    expect(adapter.roots({ home, platform: "linux", env: {} })).toEqual([
      "/home/nobody/.claude/projects",
      "/home/nobody/.config/claude/projects",
    ]);
    const env = { CLAUDE_CONFIG_DIR: "/a, /b" };
    expect(adapter.roots({ home, platform: "linux", env })).toEqual(["/a/projects", "/b/projects"]);
  });

  it("declares where skills, servers and the guard live", () => {
    const { skills, mcp, guard } = claudeCode().adapter;
    const env = { home: "/h", platform: "linux", env: {} } as const;
    const chosen = { ...env, env: { CLAUDE_CONFIG_DIR: "/c" } } as const;
    expect(skills?.dirs(chosen)).toEqual([
      { path: ".claude/skills", scope: "project" },
      { path: "/c/skills", scope: "user" },
    ]);
    expect([mcp?.files(env), mcp?.files(chosen)]).toEqual([
      [
        { path: "/h/.claude.json", scope: "user" },
        { path: ".mcp.json", scope: "project" },
        { path: "/etc/claude-code/managed-mcp.json", scope: "system" },
      ],
      [
        { path: "/c/.claude.json", scope: "user" },
        { path: ".mcp.json", scope: "project" },
        { path: "/etc/claude-code/managed-mcp.json", scope: "system" },
      ],
    ]);
    expect([guard?.settings(env), guard?.settings(chosen)]).toEqual(["/h/.claude/settings.json", "/c/settings.json"]);
    const servers = {
      a: { command: "npx", args: ["x", 1], env: { K: "v" } },
      b: { type: "http", url: "https://e.org", headers: { H: variable("TOKEN") } },
      c: { type: "sse", url: "https://e.org/sse" },
      d: { type: "stdio" },
      e: 5,
    };
    const local = { "/p": { mcpServers: { f: { command: "f", headersHelper: "x" } }, disabledMcpServers: ["f"] } };
    expect(serversIn(mcp, { numStartups: 3, mcpServers: servers, projects: local })).toEqual([
      {
        name: "a",
        path: ["mcpServers", "a"],
        transport: "stdio",
        command: "npx",
        args: ["x", "1"],
        env: { K: "v" },
      },
      {
        name: "b",
        path: ["mcpServers", "b"],
        transport: "http",
        url: "https://e.org",
        headers: { H: variable("TOKEN") },
      },
      { name: "c", path: ["mcpServers", "c"], transport: "sse", url: "https://e.org/sse" },
      {
        name: "f",
        path: ["projects", "/p", "mcpServers", "f"],
        project: "/p",
        transport: "stdio",
        command: "f",
        only: ["headersHelper"],
        disabled: true,
      },
    ]);
    expect(serversIn(mcp, { mcpServers: [], projects: 5 })).toEqual([]);
  });

  it("says how long the tool keeps its logs", () =>
    bench(async (bench) => {
      const source = join(bench.dir, "settings.json");
      expect(await bench.adapter.retention?.(bench.env)).toEqual({ days: 99, source });
      await writeFile(source, "{}");
      expect(await bench.adapter.retention?.(bench.env)).toEqual({ days: 30, source: "default" });
    }));

  it("scans many files without holding up other work", () =>
    bench(async (bench) => {
      const project = join(bench.dir, "projects", "many");
      await mkdir(project);
      for (let i = 0; i < 1500; i++) {
        await writeFile(join(project, `0b6f1c52-3a41-4d6e-9a51-${String(i).padStart(12, "0")}.jsonl`), "");
      }
      let turns = 0;
      let timer = setImmediate(() => {});
      const tick = () => {
        turns++;
        timer = setImmediate(tick);
      };
      tick();
      await bench.scan();
      clearImmediate(timer);
      expect(turns).toBeGreaterThanOrEqual(3);
    }));
});
