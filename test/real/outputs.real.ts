/** Large outputs in the real tools: each stores them in a file of its own, and the log has a part. */
import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTestKernel } from "../kernel.ts";
import { isPicked } from "./picked.ts";
import { stage } from "./stage.ts";
import { claudeCode } from "./tools/claude-code.ts";
import { copilot } from "./tools/copilot.ts";
import { opencode } from "./tools/opencode.ts";
import { pi } from "./tools/pi.ts";

/** 160 KB whose middle is in no preview. */
const COMMAND = "seq 1 20000 | sed s/^/row-/";

describe("a large output in the real tools", () => {
  const drivers = [claudeCode, opencode, copilot, pi].filter(isPicked);
  it.skipIf(drivers.length === 0).each(drivers)("$name", async (driver) => {
    const { model, tool } = await stage(driver);
    model.play({ main: [{ calls: [driver.words.shell(COMMAND)] }, { text: "Counted." }] });
    const ran = await tool.run({ prompt: "Count." });
    expect(ran.code, ran.stderr + ran.stdout).toBe(0);
    const t = await createTestKernel({ home: tool.home, plugins: defaultPlugins(), env: { ...tool.env } });
    onTestFinished(() => t.close());
    await t.send("POST", "/api/import", { all: true });
    for (const n of [1, 9_999, 20_000]) {
      const { results } = await t.json<{ results: unknown[] }>(`/api/search?q=%22row-${n}%22`);
      expect(results.length, `row-${n}`).toBeGreaterThan(0);
    }
  });
});
