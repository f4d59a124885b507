/** Logs written by the tools themselves, with the figures they must give. A row's tool is the first folder of its path. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionRef, SessionUsage } from "sessarc";
import type { AdapterPlugin } from "sessarc/adapter";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import copilot from "sessarc/plugins/copilot";
import cursor from "sessarc/plugins/cursor";
import gemini from "sessarc/plugins/gemini-cli";
import { describe, expect, it } from "vitest";
import { drain } from "../adapter/bench.ts";

const beside = fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const folder = process.env.SESSARC_FIXTURES ?? beside;
const present = existsSync(join(folder, "EXPECTED.json"));

/** How a row of a tool is opened. Rows of tools that are not listed here or below are found by the last test. */
const TOOLS: Record<string, (path: string) => { plugin: AdapterPlugin; ref: Omit<SessionRef, "tool"> }> = {
  claude: (path) => ({ plugin: claudeCode(), ref: { key: "session", path } }),
  codex: (path) => ({ plugin: codex(), ref: { key: "thread", path } }),
};

/** Tools whose rows tell other figures: what stands for the tool's home, and the row's session below it. */
const HOMES: Record<string, { plugin: (dir: string) => AdapterPlugin; home: RegExp }> = {
  cursor: { plugin: (dir) => cursor({ dir }), home: /^.*?(?=\/\.cursor\/)|^.*\/Cursor\/User$/ },
  "copilot-vscode": { plugin: (dir) => copilot({ dir }), home: /^[^/]+\/[^/]+/ },
  gemini: { plugin: (dir) => gemini({ dir }), home: /^[^/]+\/[^/]+/ },
};

/** Rows of EXPECTED.json that the tool's own test runs, each of them. */
const ELSEWHERE = [
  /^gemini\/(agentsview|generated-gemini-cli-0\.61\.0|self-made-1)\//,
  /^opencode\//,
  /^copilot-cli\/generated-copilot-1\.0\.102\/session-state\/[^/]+\/events\.jsonl$/,
];

/**
 * Rows whose figures are of an earlier reading of their logs: messages of Codex without a `type` are messages, a slash command of
 * Claude Code is what the person said.
 */
const RIGHTED: Record<string, Row> = {
  "codex/agentsview/fc_args_1.jsonl": { kinds: { user: 1, tool_use: 1 } },
  "codex/agentsview/function_calls.jsonl": { kinds: { user: 1, tool_use: 2 } },
  "codex/agentsview/standard_session.jsonl": { kinds: { user: 1, assistant: 1 } },
  "claude/d-kimuson-claude-code-viewer/projects/sample-project/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl": {
    kinds: { user: 1, note: 1, assistant: 3, tool_use: 12, tool_result: 12 },
    first: "/init",
  },
  "claude/microsoft-vscode-copilot-chat/30530d66-37fb-4f3b-aa5f-d92b6a8afae2.jsonl": {
    kinds: { user: 2, note: 1, assistant: 5, tool_use: 25, tool_result: 25 },
    first: "/init",
  },
};

/** The same of rows with few figures: an answer of VS Code whose text and calls alternate is several messages. */
const RIGHTED_SMALL: Record<string, SmallRow> = {
  "copilot-vscode/self-made-1/Code/User/workspaceStorage/0123abcd1/chatSessions/5e551011-0000-4000-8000-000000000001.json":
    { kinds: { user: 2, assistant: 3, thinking: 1, tool_use: 1, tool_result: 1 } },
};

interface Row {
  records?: number;
  bad_lines?: number;
  pending_tail?: number;
  replies?: number;
  kinds?: Record<string, number>;
  title?: string | null;
  first?: string;
  cwd?: string | null;
  branch?: string | null;
  parent?: string | null;
  start?: string | null;
  end?: string | null;
  usage?: SessionUsage;
}

/** A row of a small hand-made log. */
interface SmallRow {
  sessions?: number;
  id?: string;
  title?: string;
  cwd?: string;
  kinds?: Record<string, number>;
  first?: string;
  first_reply?: string;
  /** Ids of the messages that were not taken back. */
  live?: string[];
  requests?: string[];
  tool_input?: unknown;
  usage?: Record<string, object>;
}

const toTool = (path: string) => path.split("/")[0] ?? "";

function toRows<R>(file: string, tools: object): [path: string, row: R][] {
  if (!present) return [];
  const rows: Record<string, R> = JSON.parse(readFileSync(join(folder, file), "utf8"));
  return Object.entries(rows).filter(([path]) => toTool(path) in tools);
}

async function read(path: string) {
  const open = TOOLS[toTool(path)];
  if (!open) throw new Error(`no adapter for ${path}`);
  const { plugin, ref } = open(join(folder, path));
  const env = { home: homedir(), platform: process.platform, env: {} };
  return drain(plugin.adapter.read({ tool: plugin.adapter.name, ...ref }, env));
}

describe.skipIf(!present)("logs of real tools (needs the fixtures folder: SESSARC_FIXTURES)", () => {
  for (const file of ["EXPECTED.json", "EXPECTED-selfmade.json"]) {
    it.each(toRows<Row>(file, TOOLS))(`${file}: %s`, async (path, expected) => {
      const row = { ...expected, ...RIGHTED[path] };
      const { events, summary } = await read(path);
      const kinds: Record<string, number> = {};
      for (const event of events) kinds[event.kind] = (kinds[event.kind] ?? 0) + 1;
      const got: Row = {
        kinds,
        usage: summary.usage,
        title: summary.title ?? null,
        first: events.find((event) => event.kind === "user")?.text ?? "",
        cwd: summary.cwd ?? null,
        branch: summary.gitBranch ?? null,
        parent: summary.parent ?? summary.forkedFrom ?? null,
        start: summary.startedAt ?? null,
        end: summary.endedAt ?? null,
        replies: summary.evidence?.requests ?? 0,
      };
      for (const field of Object.keys(got) as (keyof Row)[]) {
        if (row[field] !== undefined) expect(got[field], field).toEqual(row[field]);
      }
      const pending = row.pending_tail ?? 0;
      if (row.bad_lines !== undefined) {
        expect((summary.skipped?.lines ?? 0) + (summary.skipped?.pending ?? 0)).toBe(row.bad_lines + pending);
      }
      if (path.includes("/generated-")) expect(summary.skipped?.unknown, "unknown rows").toEqual({});
    });
  }

  it.each(toRows<SmallRow>("EXPECTED-selfmade.json", HOMES))("EXPECTED-selfmade.json: %s", async (path, expected) => {
    const row = { ...expected, ...RIGHTED_SMALL[path] };
    const { plugin, home } = HOMES[toTool(path)] ?? {};
    const dir = home?.exec(path)?.[0];
    const adapter = dir === undefined ? undefined : plugin?.(join(folder, dir)).adapter;
    if (!adapter) throw new Error(`no home in ${path}`);
    const env = { home: join(folder, "nobody"), platform: process.platform, env: {} };
    const refs: SessionRef[] = [];
    for (const root of adapter.roots(env)) for await (const ref of adapter.scan(root, env)) refs.push(ref);
    const own = refs.filter((ref) => ref.path.startsWith(join(folder, path)));
    const [ref] = own;
    if (!ref) throw new Error(`${path} is not found, only ${refs.map((one) => one.path).join(", ")}`);
    if (row.sessions !== undefined) expect(own).toHaveLength(row.sessions);
    if (row.id !== undefined) expect(ref.key).toBe(row.id);
    const { events, summary } = await drain(adapter.read(ref, env));
    const of = (kind: string) => events.filter((event) => event.kind === kind);
    const kinds: Record<string, number> = {};
    for (const event of events) kinds[event.kind] = (kinds[event.kind] ?? 0) + 1;
    const ids = [...of("user"), ...of("assistant")].sort((a, b) => a.seq - b.seq).map((event) => event.id);
    const got: SmallRow = {
      title: summary.title ?? ref.title,
      cwd: summary.cwd ?? ref.cwd,
      kinds,
      first: of("user")[0]?.text,
      first_reply: of("assistant")[0]?.text,
      live: ids.flatMap((id) => id ?? []),
      requests: of("user").map((event) => event.text),
      tool_input: of("tool_use")[0]?.tool_input,
    };
    for (const field of Object.keys(got) as (keyof SmallRow)[]) {
      // "only by …": the log does not tell it.
      const wanted = field === "cwd" && row.cwd?.startsWith("only by") ? undefined : row[field];
      if (row[field] !== undefined) expect(got[field], field).toEqual(wanted);
    }
    if (row.usage) expect(summary.usage).toMatchObject(row.usage);
  });

  it("leaves no row out", () => {
    const all = (file: string) => Object.keys(JSON.parse(readFileSync(join(folder, file), "utf8")));
    const left = [
      ...all("EXPECTED.json").filter((path) => !(toTool(path) in TOOLS) && !ELSEWHERE.some((one) => one.test(path))),
      ...all("EXPECTED-selfmade.json").filter((path) => !(toTool(path) in TOOLS) && !(toTool(path) in HOMES)),
    ];
    expect(left).toEqual([]);
    // Its own test runs the first.
    expect(all("EXPECTED.json").filter((path) => path.startsWith("copilot-cli/"))).toHaveLength(1);
  });

  it("reads the compressed rollout like the plain one", async () => {
    const name = "sessions/2026/11/20/rollout-2026-11-20T20-29-23-01a1faa6-4511-7e02-b534-282d89fce2f6.jsonl";
    const plain = await read(`codex/generated-codex-0.169.0/${name}`);
    const packed = await read(`codex/generated-codex-0.169.0/zst/${name}.zst`);
    // The two were written on different machines: paths inside differ.
    expect(packed.events.map(({ kind, id, at }) => ({ kind, id, at }))).toEqual(
      plain.events.map(({ kind, id, at }) => ({ kind, id, at })),
    );
    expect({ ...packed.summary, cwd: plain.summary.cwd }).toEqual(plain.summary);
  });
});
