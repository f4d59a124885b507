/** Sample data by a button: a second service beside one's own, and back with one click. */
import { existsSync } from "node:fs";
import { beforeAll, expect, it } from "vitest";
import demo from "../../plugins/demo/index.ts";
import { builtPackage } from "../built.ts";
import { createTestKernel } from "../kernel.ts";
import { violations } from "./axe.ts";
import { describeUi, settled, useStage, visit } from "./browser.ts";
import { layoutFaults } from "./probes.ts";

it("is refused where nothing is served: a command has no dashboard that could lead back", async () => {
  const t = await createTestKernel({ plugins: [demo()] });
  const answer = await t.fetch("/api/sample", { method: "POST", body: "{}" });
  expect(await answer.json()).toMatchObject({ code: "SAMPLE_NOT_STARTED" });
  expect(answer.status).toBe(409);
  expect(await t.send("DELETE", "/api/sample")).toMatchObject({ body: { ended: false } });
});

describeUi("dashboard: sample data", () => {
  beforeAll(builtPackage);
  const get = useStage({ imported: false, fill: async () => {} });

  it("is shown by a button, says what it is, and is gone with one click; one's own archive has none of it", async () => {
    const stage = get();
    const { page, served } = stage;
    await visit(stage, "/");
    await page.getByRole("button", { name: "Show sample data" }).click();
    await page.waitForURL((url) => url.port !== new URL(stage.url).port);
    const sample = new URL(page.url()).origin;
    const back = page.getByRole("link", { name: "Back to yours" });
    await back.first().waitFor();
    await page.getByRole("navigation", { name: "Main" }).getByText("Sample data").waitFor();
    const status = async (): Promise<{ dataDir: string; sample: object }> =>
      (await fetch(`${sample}/api/status`)).json();
    const { dataDir, sample: about } = await status();
    expect(about).toEqual({ of: `${stage.url}/` });
    expect(dataDir).not.toBe(served.kernel.storage.dataDir);
    for (const width of [1440, 390]) {
      await page.setViewportSize({ width, height: 900 });
      expect(await layoutFaults(page), `${width}`).toEqual([]);
      expect(await page.getByText("Sample data", { exact: true }).filter({ visible: true }).count()).toBe(1);
    }
    expect(await violations(stage)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    // Asked for again, it is the one that runs.
    const again = await served.kernel.fetch("/api/sample", { method: "POST", body: "{}" });
    expect(await again.json()).toEqual({ url: `${sample}/` });

    await back.filter({ visible: true }).click();
    await page.getByText("The sample data is removed.").waitFor();
    await settled(page);
    expect(page.url()).toBe(`${stage.url}/`);
    expect(existsSync(dataDir)).toBe(false);
    await expect(fetch(`${sample}/api/status`)).rejects.toThrow();
    const own = await served.kernel.fetch("/api/sessions?limit=1");
    expect(await own.json()).toMatchObject({ total: 0 });
    stage.problems();
  });

  it("ends with the service that started it", async () => {
    const { served } = get();
    const answer = await served.kernel.fetch("/api/sample", { method: "POST", body: "{}" });
    const { url } = (await answer.json()) as { url: string };
    const { dataDir } = (await (await fetch(`${url}api/status`)).json()) as { dataDir: string };
    await served.close();
    expect(existsSync(dataDir)).toBe(false);
    await expect(fetch(`${url}api/status`)).rejects.toThrow();
  });
});
