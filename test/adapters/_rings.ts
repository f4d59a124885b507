/** Fixtures of the later rings with the figures they must give; they are beside the project, or where SESSARC_FIXTURES says. */
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { SessionUsage, TokenUsage } from "sessarc";
import type { AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import { readAll } from "./_home.ts";

export interface Expected {
  key: string;
  parent: string | null;
  forkOf?: string;
  cwd: string | null;
  title: string | null;
  first: string | null;
  start: string;
  end: string;
  replies: number;
  kinds: Record<string, number>;
  usage: SessionUsage;
  inheritedUsage?: SessionUsage;
  columnsMinusRows?: Partial<TokenUsage>;
  costUSD?: number;
}

const FOLDER = process.env.SESSARC_FIXTURES ?? fileURLToPath(new URL("../../../shared/fixtures", import.meta.url));
const FILES = ["second-ring/EXPECTED-2.json", "third-ring/EXPECTED-3.json"];

export interface RingSuite {
  /** The fixture, a folder of a ring: `kilo/generated-kilo-7.7.7`. */
  fixture: string;
  /** The adapter for that folder. */
  plugin: (dir: string) => AdapterPlugin;
  /** Fields that the log does not tell in the form of the expectation, each with the reason. */
  except?: Partial<Record<keyof Expected, string>>;
}

/** Every session of a fixture has the figures that are expected of it, and there is no other. */
export function testRing({ fixture, plugin, except = {} }: RingSuite): void {
  const file = FILES.find((name) => existsSync(join(FOLDER, dirname(name), fixture)));
  describe.skipIf(!file)(`${fixture} (needs the fixtures folder: SESSARC_FIXTURES)`, () => {
    it("gives the expected figures", async () => {
      if (!file) return;
      const rows: Record<string, { sessions: Expected[] }> = JSON.parse(readFileSync(join(FOLDER, file), "utf8"));
      const wanted = Object.entries(rows).flatMap(([path, row]) =>
        path.startsWith(`${fixture}/`) ? row.sessions : [],
      );
      expect(wanted.length).toBeGreaterThan(0);
      const env = { home: homedir(), platform: process.platform, env: {} };
      const all = await readAll(plugin(join(FOLDER, dirname(file), fixture)).adapter, env);
      expect(all.map(({ ref }) => ref.key).sort()).toEqual(wanted.map(({ key }) => key).sort());
      for (const { ref, events, summary } of all) {
        const want = wanted.find(({ key }) => key === ref.key);
        if (!want) continue;
        const kinds: Record<string, number> = { user: 0, assistant: 0, thinking: 0, tool_use: 0, tool_result: 0 };
        for (const { kind } of events) if (kind !== "note") kinds[kind] = (kinds[kind] ?? 0) + 1;
        const got: Partial<Record<keyof Expected, unknown>> = {
          // The second ring names the origin of a fork as its parent.
          parent: summary.parent ?? (want.forkOf === undefined ? summary.forkedFrom : null) ?? null,
          cwd: summary.cwd ?? null,
          title: summary.title ?? null,
          first: events.find((event) => event.kind === "user")?.text ?? null,
          start: toTime(summary.startedAt),
          end: toTime(summary.endedAt),
          replies: (summary.evidence?.requests ?? 0) + (summary.evidence?.inheritedExcluded ?? 0),
          kinds,
          usage: sum(summary.usage, summary.inheritedUsage ?? {}),
          inheritedUsage: summary.inheritedUsage,
        };
        for (const field of Object.keys(got) as (keyof Expected)[])
          if (!except[field]) expect(got[field], `${field} of ${ref.key}`).toEqual(want[field]);
        if (want.costUSD !== undefined) expect(summary.costUSD).toBe(want.costUSD);
        if (want.forkOf !== undefined) expect(summary.forkedFrom).toBe(want.forkOf);
        if (want.columnsMinusRows) expect(summary.unlogged).toMatchObject(want.columnsMinusRows);
        else expect(summary.unlogged).toBeUndefined();
        expect(summary.skipped?.lines).toBe(0);
      }
    });
  });
}

function sum(...parts: SessionUsage[]): SessionUsage {
  const all: SessionUsage = {};
  for (const [model, tokens] of parts.flatMap((part) => Object.entries(part))) {
    const known = all[model];
    if (!known) all[model] = { ...tokens };
    else for (const name of Object.keys(tokens) as (keyof TokenUsage)[]) known[name] += tokens[name];
  }
  return all;
}

const toTime = (iso: string | undefined) => iso && new Date(iso).toISOString();
