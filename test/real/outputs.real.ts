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
    // Copilot deletes the file when it ends: only a service that follows the session has read it by then.
    const wanted = driver === copilot ? ["row-1", "which is gone"] : ["row-1", "row-9999", "row-20000"];
    for (const words of wanted) {
      const { results } = await t.json<{ results: unknown[] }>(`/api/search?q=${encodeURIComponent(`"${words}"`)}`);
      expect(results.length, words).toBeGreaterThan(0);
    }
  });
});
