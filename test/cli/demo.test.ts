import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { SessionEvent, SessionSummary } from "sessarc";
import type { AdapterEnv, AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it, onTestFinished } from "vitest";
import { fillDemo, writeDemo } from "../../plugins/demo/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { createTestKernel } from "../kernel.ts";

const NOW = new Date("2026-11-20T15:00:00Z");
async function tempHome(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "sessarc-test-"));
  // The last to be registered is the first to be called: a service over it is closed before.
  onTestFinished(() => rm(home, { recursive: true, force: true }));
  return home;
}

interface Read {
  tool: string;
  key: string;
  cwd: string | undefined;
  parent: string | undefined;
  events: SessionEvent[];
  summary: SessionSummary;
}

async function readAll(home: string): Promise<Read[]> {
  const env: AdapterEnv = { home, platform: "linux", env: {} };
  const found: Read[] = [];
  for (const entry of defaultPlugins()) {
    const plugin = (await entry.load?.())?.default(entry.options as never);
    if (!plugin || !("adapter" in plugin)) continue;
    const { adapter } = plugin as AdapterPlugin;
    for (const root of adapter.roots(env)) {
      for await (const ref of adapter.scan(root, env)) {
        const events: SessionEvent[] = [];
        const reader = adapter.read(ref, env);
        let step = await reader.next();
        for (; !step.done; step = await reader.next()) events.push(...step.value);
        const summary = step.value;
        found.push({
          tool: adapter.name,
          key: ref.key,
          cwd: ref.cwd ?? summary.cwd,
          parent: ref.parent ?? summary.parent,
          events,
          summary,
        });
      }
    }
  }
  return found;
}

describe("sample logs", () => {
  it("are read by the adapters of all six tools, without a line that is not understood", async () => {
    const home = await tempHome();
    const { sessions } = await writeDemo({ home, now: NOW, platform: "linux" });
    const read = await readAll(home);
    expect(new Set(read.map((one) => one.tool))).toEqual(
      new Set(["claude-code", "codex", "cursor", "opencode", "gemini-cli", "copilot"]),
    );
    // Two sub-agents beside the sessions.
    expect(read.length).toBe(sessions + 2);
    expect(read.filter((one) => one.parent !== undefined)).toHaveLength(2);
    for (const one of read) {
      expect(one.summary.skipped ?? { lines: 0, unknown: {} }, `${one.tool} ${one.key}`).toMatchObject({
        lines: 0,
        unknown: {},
      });
      expect(one.events.filter((event) => event.kind === "user").length, one.key).toBeGreaterThan(0);
    }
  });

  it("hold edits, failures, thinking, a long output and tokens", async () => {
    const home = await tempHome();
    await writeDemo({ home, now: NOW, platform: "linux" });
    const read = await readAll(home);
    const all = read.flatMap((one) => one.events);
    expect(new Set(all.map((event) => event.kind))).toEqual(
      new Set(["user", "assistant", "thinking", "tool_use", "tool_result", "note"]),
    );
    expect(all.some((event) => event.is_error)).toBe(true);
    expect(Math.max(...all.map((event) => event.text.length))).toBeGreaterThan(10_000);
    const counted = read.filter((one) => Object.values(one.summary.usage).some((usage) => usage.output > 0));
    expect(new Set(counted.map((one) => one.tool)).size).toBeGreaterThanOrEqual(5);
    // Cursor's transcripts hold neither times nor tokens.
    expect(read.length - counted.length).toBeLessThanOrEqual(1);
  });

  it("stay within the last 30 days and name their project folders", async () => {
    const home = await tempHome();
    await writeDemo({ home, now: NOW, platform: "linux" });
    for (const { events, cwd, key } of await readAll(home)) {
      const times = events.flatMap((event) => (event.at ? [Date.parse(event.at)] : []));
      expect(Math.max(0, ...times), key).toBeLessThanOrEqual(NOW.getTime());
      expect(Math.min(NOW.getTime(), ...times), key).toBeGreaterThan(NOW.getTime() - 31 * 86_400_000);
      if (cwd !== undefined) expect(cwd.startsWith(home), cwd).toBe(true);
    }
  });

  it("are the same for the same date", async () => {
    const home = await tempHome();
    await writeDemo({ home, now: NOW, platform: "linux" });
    const first = await contents(home);
    await rm(home, { recursive: true });
    await writeDemo({ home, now: NOW, platform: "linux" });
    expect(await contents(home)).toEqual(first);
  });

  it("speak about a repository whose history is real", async () => {
    const home = await tempHome();
    const { repository } = await writeDemo({ home, now: NOW });
    const cwd = join(home, "code/tidepool");
    if (!repository) {
      expect(await readdir(cwd)).not.toContain(".git");
      return;
    }
    const { stdout } = await promisify(execFile)("git", ["log", "--format=%aI %s"], { cwd });
    const commits = stdout.trim().split("\n");
    expect(commits.length).toBeGreaterThan(8);
    expect(commits[0]).toMatch(/^2026-11-18T12:4.* Refuse stations without constituents$/);
  });
});

/** Text of every file outside of git's own folder. */
async function contents(home: string): Promise<Record<string, string>> {
  const names = await readdir(home, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const own = files.filter((path) => !path.includes("/.git/") && !path.includes("\\.git\\"));
  return Object.fromEntries(await Promise.all(own.map(async (path) => [path, await readFile(path, "latin1")])));
}

it("sample skills and MCP configurations: one skill is taken in and linked, nothing is started", async () => {
  const home = await tempHome();
  await writeDemo({ home, now: NOW, platform: "linux", setup: true });
  const { send: ask, json } = await createTestKernel({ home, plugins: defaultPlugins() });
  const send = async (method: string, path: string, body?: unknown) =>
    method === "GET" ? json(`/api${path}`) : (await ask(method, `/api${path}`, body)).body;
  await send("POST", "/import", { all: true });
  await fillDemo(send);
  const linked = expect.objectContaining({ tool: "codex", state: "linked" });
  expect(await send("GET", "/skills")).toMatchObject({
    skills: [{ name: "tide-tables", links: expect.arrayContaining([linked]) }],
  });
  const { entries } = (await send("GET", "/skills/scan")) as { entries: { name: string; warnings: string[] }[] };
  expect(entries.map(({ name }) => name)).toEqual(expect.arrayContaining(["release-notes", "Ledger Restore"]));
  expect(entries.find(({ name }) => name === "Ledger Restore")?.warnings.length).toBeGreaterThan(0);
  const scan = (await send("GET", "/mcp/scan")) as { entries: { tool: string; name: string }[] };
  expect(new Set(scan.entries.map(({ tool }) => tool))).toEqual(new Set(["claude-code", "codex", "cursor"]));
  expect(JSON.stringify(scan)).not.toContain("example-not-a-real-key");
  expect(JSON.stringify(await send("GET", "/mcp/services"))).not.toContain("tides");
});
