/** Edits of every tool, replayed, against a model that applies them on its own. */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { AdapterPlugin } from "sessarc/adapter";
import { describe, expect, it } from "vitest";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import { LONG } from "../rounds.ts";
import { type Scenario, STYLES, scenario } from "./_gen.ts";
import { filesBelow, replayKernel, toEcho, writeCommits, writeSession } from "./_replay.ts";

const REAL: Readonly<Record<string, AdapterPlugin>> = {
  "claude-code": claude(undefined),
  codex: codex(undefined),
  "gemini-cli": gemini(undefined),
  opencode: opencode(undefined),
  copilot: copilot(undefined),
  cursor: cursor(undefined),
};
const EACH = LONG ? 56 : 4;
const minute = (i: number) => new Date(Date.UTC(2026, 0, 1, 0, i * 10)).toISOString();

describe("replayed edits", () => {
  it.each(Object.keys(STYLES))("of %s leave the same files, byte by byte, as their own application", async (tool) => {
    const name = `echo-${tool}`;
    const t = await replayKernel([toEcho(name, REAL[tool]?.adapter)]);
    const root = join(t.home, "code $(touch pwned) é");
    const scenarios = Array.from({ length: EACH }, (_, i) => scenario(tool, i * 7919 + tool.length));
    await writeCommits(
      root,
      scenarios.map(({ before }, i) => ({ at: minute(i), files: before })),
    );
    const ids: string[] = [];
    for (const [i, one] of scenarios.entries()) {
      const calls = JSON.parse(JSON.stringify(one.calls).replaceAll("{root}", root)) as Scenario["calls"];
      ids.push(
        await writeSession(t.home, name, `s${i}`, {
          cwd: root,
          startedAt: minute(i).replace("00:00.000", "00:30.000"),
          calls,
        }),
      );
    }
    await mkdir(join(t.home, "elsewhere"));
    await t.send("POST", "/api/import", { all: true });
    let edits = 0;
    for (const [i, sessionId] of ids.entries()) {
      const one = scenarios[i] as Scenario;
      const { path } = (await t.send<{ path: string }>("POST", "/api/replay/start", { sessionId })).body;
      expect(await filesBelow(path)).toEqual(new Map([...one.before].sort()));
      const { steps } = await t.json<{ steps: { seq: number }[] }>(
        `/api/sessions/${encodeURIComponent(sessionId)}/replay-plan`,
      );
      expect(steps).toHaveLength(one.calls.length);
      for (const { seq } of steps) {
        const { body } = await t.send("POST", "/api/replay/step", { sessionId, seq });
        expect(
          body,
          `seed ${i}, ${JSON.stringify(one.calls[steps.findIndex((step) => step.seq === seq)])}`,
        ).toMatchObject({ state: "done", matchesRecording: true });
        edits++;
      }
      expect(sorted(await filesBelow(path)), `seed ${i}`).toEqual(sorted(one.after));
      // All the way back is the commit again.
      for (const { seq } of steps.toReversed())
        expect((await t.send("POST", "/api/replay/back", { sessionId, seq })).status).toBe(200);
      expect(sorted(await filesBelow(path))).toEqual(sorted(one.before));
    }
    expect(edits).toBeGreaterThan(EACH * 3);
  });
});

const sorted = (files: ReadonlyMap<string, Buffer>) =>
  Object.fromEntries(
    [...files].sort(([a], [b]) => (a < b ? -1 : 1)).map(([path, data]) => [path, data.toString("latin1")]),
  );
