/** Logs written by the tools themselves, with the figures they must give. A row's tool is the first folder of its path. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AdapterPlugin, SessionRef, SessionUsage } from "sessarc";
import claudeCode from "sessarc/plugins/claude-code";
import codex from "sessarc/plugins/codex";
import { describe, expect, it } from "vitest";
import { drain } from "../adapter/bench.ts";

const beside = fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const folder = process.env.SESSARC_FIXTURES ?? beside;
const present = existsSync(join(folder, "EXPECTED.json"));

/** How a row of a tool is opened. Add a tool here; rows of tools that are not listed are not run. */
const TOOLS: Record<string, (path: string) => { plugin: AdapterPlugin; ref: Omit<SessionRef, "tool"> }> = {
  claude: (path) => ({ plugin: claudeCode(), ref: { key: "session", path } }),
  codex: (path) => ({ plugin: codex(), ref: { key: "thread", path } }),
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

function rowsOf(file: string): [path: string, row: Row][] {
  if (!present) return [];
  const rows: Record<string, Row> = JSON.parse(readFileSync(join(folder, file), "utf8"));
  return Object.entries(rows).filter(([path]) => (path.split("/")[0] ?? "") in TOOLS);
}

async function read(path: string) {
  const open = TOOLS[path.split("/")[0] ?? ""];
  if (!open) throw new Error(`no adapter for ${path}`);
  const { plugin, ref } = open(join(folder, path));
  const env = { home: homedir(), platform: process.platform, env: {} };
  return drain(plugin.adapter.read({ tool: plugin.adapter.name, ...ref }, env));
}

describe.skipIf(!present)("logs of real tools (needs the fixtures folder: SESSARC_FIXTURES)", () => {
  for (const file of ["EXPECTED.json", "EXPECTED-selfmade.json"]) {
    it.each(rowsOf(file))(`${file}: %s`, async (path, row) => {
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
