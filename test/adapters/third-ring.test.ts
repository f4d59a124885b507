/** Logs that this month's versions of Claude Code, Codex and Gemini CLI wrote, with the figures they must give. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionUsage } from "sessarc";
import type { AdapterPlugin } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import gemini from "sessarc/plugins/gemini-cli";
import { describe, expect, it } from "vitest";
import { drain, scanAll } from "../adapter/bench.ts";

const shared = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const folder = join(shared, "third-ring");
const present = existsSync(join(folder, "EXPECTED-3.json"));

interface Expected {
  key: string;
  parent: string | null;
  cwd: string;
  title: string | null;
  first?: string;
  replies: number;
  kinds: Record<string, number>;
  usage: SessionUsage;
}

/** The adapter of a row, and the part of its path that is the home of the assistant. */
const TOOLS: Record<string, { plugin: (dir: string) => AdapterPlugin; home: RegExp }> = {
  claude: { plugin: (dir) => claudeCode({ dir }), home: /^.*?(?=\/projects\/)/ },
  codex: { plugin: (dir) => codex({ dir }), home: /^.*?(?=\/sessions\/)/ },
  gemini: { plugin: (dir) => gemini({ dir }), home: /^.*?(?=\/\.gemini\/)/ },
};

/** The call that titled this session is in no row; the client's total (`costState`) holds it, so it counts. */
const WITH_TITLE_CALL = "b406d1da-7bb4-48df-b9b8-7eb732a62eec";
const TITLE_CALL: SessionUsage = {
  "claude-sonnet-4-5": { input: 845, output: 125, cacheRead: 245, cacheWrite5m: 75, cacheWrite1h: 10 },
};

const rows = (): [path: string, row: { sessions: Expected[] }][] => {
  if (!present) return [];
  const all: Record<string, { sessions: Expected[] }> = JSON.parse(
    readFileSync(join(folder, "EXPECTED-3.json"), "utf8"),
  );
  return Object.entries(all).filter(([path]) => (path.split("/")[0] ?? "") in TOOLS);
};

describe.skipIf(!present)("third ring (needs the fixtures folder: SESSARC_FIXTURES)", () => {
  it.each(rows())("%s", async (path, { sessions }) => {
    const tool = TOOLS[path.split("/")[0] ?? ""];
    const home = tool?.home.exec(path)?.[0];
    if (!tool || home === undefined) throw new Error(`no adapter for ${path}`);
    const { adapter } = tool.plugin(join(folder, home));
    const env = { home: dirname(join(folder, home)), platform: "linux", env: {} } as const;
    const refs = (await scanAll(adapter, env)).filter((ref) => ref.path === join(folder, path));
    expect(refs).toHaveLength(sessions.length);
    for (const [n, ref] of refs.entries()) {
      const expected = sessions[n] as Expected;
      const { events, summary } = await drain(adapter.read(ref, env));
      const count = (kind: string) => events.filter((event) => event.kind === kind).length;
      expect(Object.fromEntries(Object.keys(expected.kinds).map((kind) => [kind, count(kind)]))).toEqual(
        expected.kinds,
      );
      expect(summary.usage).toEqual(expected.key === WITH_TITLE_CALL ? TITLE_CALL : expected.usage);
      expect(summary.cwd).toBe(expected.cwd);
      expect(summary.parent ?? null).toBe(expected.parent);
      if (expected.title !== null) expect(summary.title).toBe(expected.title);
      if (expected.first !== undefined)
        expect(events.find((event) => event.kind === "user")?.text).toBe(expected.first);
    }
  });
});
