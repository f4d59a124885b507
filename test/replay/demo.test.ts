/** The sample data's sessions are gone through again and end at the commits they led to. */
import { defaultPlugins } from "sessarc/plugins";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import type { EndState, PlanReport, SandboxInfo, StepReport } from "../../plugins/replay/index.ts";
import { createTestKernel } from "../kernel.ts";

it("the sample data's sessions are replayed to their real commits, for each of the six tools", async () => {
  const t = await createTestKernel({ plugins: defaultPlugins() });
  await writeDemo({ home: t.home, now: new Date("2026-11-20T12:00:00Z") });
  await t.send("POST", "/api/import", { all: true });
  const { sessions } = await t.json<{
    sessions: { id: string; tool: string; parentId: string | null; title: string | null }[];
  }>("/api/sessions?limit=100");
  const tools = new Set<string>();
  // The fork was a trial that was not committed.
  const own = sessions.filter(({ parentId, title }) => parentId === null && title !== "Extremes by root finding");
  expect(own.length).toBeGreaterThan(14);
  for (const { id, tool } of own) {
    const { base } = (await t.send<SandboxInfo>("POST", "/api/replay/start", { sessionId: id })).body;
    const { steps } = await t.json<PlanReport>(`/api/sessions/${encodeURIComponent(id)}/replay-plan`);
    expect(steps.filter((step) => !step.supported)).toEqual([]);
    for (const { seq, source, kind, recorded } of steps) {
      const skip = kind === "command";
      const { body } = await t.send<StepReport>("POST", "/api/replay/step", { sessionId: id, seq, source, skip });
      if (skip || base === null) continue;
      // An edit that failed in the session is passed over.
      expect(body).toMatchObject({ state: recorded.failed ? "skipped" : "done", matchesRecording: true });
    }
    const end = await t.json<EndState>(`/api/replay/result?sessionId=${encodeURIComponent(id)}`);
    if (end.commit === null || end.files.length === 0) continue;
    expect(end, id).toMatchObject({ differs: 0, missing: 0, extra: 0 });
    tools.add(tool);
  }
  expect([...tools].sort()).toEqual(["claude-code", "codex", "copilot", "cursor", "gemini-cli", "opencode"]);
});
