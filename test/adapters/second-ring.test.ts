/** Logs of the second ring with the figures they must give: one row of EXPECTED-2.json or EXPECTED-3.json each. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionEvent, SessionSummary, SessionUsage } from "sessarc";
import { type AdapterPlugin, addUsage } from "sessarc/adapter";
import aider from "sessarc/plugins/aider";
import droid from "sessarc/plugins/droid";
import dsh from "sessarc/plugins/dsh";
import gptme from "sessarc/plugins/gptme";
import grok from "sessarc/plugins/grok";
import junie from "sessarc/plugins/junie";
import kimi from "sessarc/plugins/kimi";
import pi from "sessarc/plugins/pi";
import qwen from "sessarc/plugins/qwen";
import vibe from "sessarc/plugins/vibe";
import { describe, expect, it } from "vitest";
import { drain, scanAll } from "../adapter/bench.ts";
import type { Expected } from "./_rings.ts";

const folder = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const rings = { "second-ring": "EXPECTED-2.json", "third-ring": "EXPECTED-3.json" };
const present = Object.entries(rings).every(([ring, file]) => existsSync(join(folder, ring, file)));

/** Which adapter reads the rows of a tool (the first folder of a row's path), and the folder that it is given. */
const TOOLS: Record<string, { plugin: (dir: string) => AdapterPlugin; dir: RegExp }> = {
  aider: { plugin: (dir) => aider({ dir }), dir: /^aider\/[^/]+/ },
  droid: { plugin: (dir) => droid({ dir }), dir: /^droid\/[^/]+/ },
  dsh: { plugin: (dir) => dsh({ dir }), dir: /^dsh\/[^/]+/ },
  gptme: { plugin: (dir) => gptme({ dir }), dir: /^gptme\/[^/]+/ },
  grok: { plugin: (dir) => grok({ dir }), dir: /^grok\/[^/]+/ },
  "grok-chat": { plugin: (dir) => grok({ dir }), dir: /^grok-chat\/[^/]+/ },
  iflow: { plugin: (dir) => qwen({ variant: "iflow", dir }), dir: /^iflow\/[^/]+/ },
  junie: { plugin: (dir) => junie({ dir }), dir: /^junie\/[^/]+/ },
  kimi: { plugin: (dir) => kimi({ dir }), dir: /^kimi\/[^/]+/ },
  omp: { plugin: (dir) => pi({ variant: "omp", dir }), dir: /^omp\/[^/]+/ },
  openclaw: { plugin: (dir) => pi({ variant: "openclaw", dir }), dir: /^openclaw\/[^/]+/ },
  pi: { plugin: (dir) => pi({ dir }), dir: /^pi\/[^/]+/ },
  qwen: { plugin: (dir) => qwen({ dir }), dir: /^qwen\/[^/]+/ },
  vibe: { plugin: (dir) => vibe({ dir }), dir: /^vibe\/[^/]+/ },
  prime: { plugin: (dir) => pi({ variant: "prime", dir }), dir: /^prime\/[^/]+/ },
};

/** Texts that the table of figures takes for notes: what a person typed while Grok worked. */
const TYPED: Record<string, number> = { "grok-chat/agentsview": 1 };

const findTool = (path: string) => Object.keys(TOOLS).find((name) => path.startsWith(`${name}/`));

function toRows(ring: keyof typeof rings): [path: string, rows: Expected[]][] {
  if (!present) return [];
  const all: Record<string, { sessions: Expected[] }> = JSON.parse(
    readFileSync(join(folder, ring, rings[ring]), "utf8"),
  );
  return Object.entries(all).flatMap(([path, { sessions }]) => (findTool(path) ? [[path, sessions]] : []));
}

function toFacts(events: readonly SessionEvent[], summary: SessionSummary) {
  const kinds: Record<string, number> = { assistant: 0, thinking: 0, tool_result: 0, tool_use: 0, user: 0 };
  for (const { kind } of events) if (kind !== "note") kinds[kind] = (kinds[kind] ?? 0) + 1;
  const usage: SessionUsage = {};
  for (const part of [summary.usage, summary.inheritedUsage ?? {}])
    for (const [model, tokens] of Object.entries(part)) addUsage(usage, model, tokens);
  const { requests = 0, inheritedExcluded = 0 } = summary.evidence ?? {};
  return { kinds, usage, replies: requests + inheritedExcluded };
}

describe.skipIf(!present)("second ring (needs the fixtures folder: SESSARC_FIXTURES)", () => {
  for (const ring of ["second-ring", "third-ring"] as const) {
    it.each(toRows(ring))(`${ring}: %s`, async (path, rows) => {
      const tool = TOOLS[findTool(path) ?? ""];
      const dir = tool?.dir.exec(path)?.[0];
      if (!tool || dir === undefined) throw new Error(`no adapter for ${path}`);
      const { adapter } = tool.plugin(join(folder, ring, dir));
      const env = { home: join(folder, "nobody"), platform: process.platform, env: {} };
      const found = (await scanAll(adapter, env)).filter((ref) => ref.path.startsWith(join(folder, ring, path)));
      for (const row of rows) {
        const key = row.key.replace(/\s/g, "-");
        const ref = found.find((one) => one.key === key);
        if (!ref && Object.values(row.kinds).every((count) => count === 0)) continue; // left out
        if (!ref) throw new Error(`no session ${key}, only ${found.map((one) => one.key).join(", ")}`);
        const { events, summary } = await drain(adapter.read(ref, env));
        const kinds = { ...row.kinds, user: (row.kinds.user ?? 0) + (TYPED[dir] ?? 0) };
        expect(toFacts(events, summary)).toEqual({ kinds, usage: row.usage, replies: row.replies });
        expect(summary.inheritedUsage ?? {}).toEqual(row.inheritedUsage ?? {});
        expect(summary.title ?? null).toBe(row.title);
        if (row.cwd !== "(folder of the file)") expect(summary.cwd ?? null).toBe(row.cwd);
        const first = events.find((event) => event.kind === "user")?.text.slice(0, 200) ?? null;
        expect(first).toBe(row.first);
        expect([summary.startedAt, summary.endedAt].map((at) => new Date(at ?? 0).toISOString())).toEqual(
          [row.start, row.end].map((at) => new Date(at).toISOString()),
        );
        if (path.includes("/generated-")) expect(summary.skipped?.unknown).toEqual({});
        const from = row.forkOf ?? row.parent ?? undefined;
        if (from !== undefined) expect(from).toContain(summary.parent ?? summary.forkedFrom ?? "nothing");
        else expect(summary.parent).toBeUndefined();
      }
    });
  }
});
