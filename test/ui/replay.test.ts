/** Replay: step by step to the commit, a command only after its exact text was confirmed, and the way back. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { PlanReport } from "../../plugins/replay/index.ts";
import { describeUi, load, sessionId, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

describeUi("dashboard: replay", () => {
  const get = useStage();

  it("shows what a step will change, does it, takes it back, and runs no command that was not confirmed", async () => {
    const stage = get();
    const { page } = stage;
    const id = await sessionId(stage, "extremes answers raw");
    const plan = async () =>
      (await (await stage.served.kernel.fetch(`/api/sessions/${id}/replay-plan`)).json()) as {
        sandbox: { path: string } | null;
        steps: { state: string; path: string | null }[];
      };
    await visit(stage, `/sessions/${encodeURIComponent(id)}`);
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Replay" }).click();
    await page.getByText("Nothing has run yet").waitFor();
    // The step as the log has it, before anything is set up.
    await page.getByRole("heading", { name: "As recorded" }).waitFor();
    await page.locator("[data-line][data-sign='+']").first().waitFor();
    await page.getByText(/^\d edits? · \d commands?/).waitFor();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("group", { name: "What it will change" }).waitFor();
    // The button that had the focus is gone: the keyboard goes on at the step.
    const focused = () => page.evaluate(() => document.activeElement?.tagName);
    expect(await focused()).toBe("H2");
    const { sandbox, steps } = await plan();
    const file = join(sandbox?.path ?? "", steps[0]?.path ?? "");
    const before = await readFile(file, "utf8");

    await page.getByRole("button", { name: "Do this step" }).click();
    await page.getByRole("status").getByText("done", { exact: true }).waitFor();
    expect(await readFile(file, "utf8")).not.toBe(before);
    await page.getByRole("group", { name: "What it changed" }).waitFor();
    expect(await focused()).toBe("H2");
    await page.getByRole("button", { name: "Undo step" }).click();
    await page.getByRole("button", { name: "Do this step" }).waitFor();
    expect(await readFile(file, "utf8")).toBe(before);

    // On a phone the page scrolls, with the step above the list.
    await page.setViewportSize({ width: 390, height: 844 });
    const list = page.getByRole("list", { name: "Steps" });
    expect(await list.evaluate((one) => one.scrollHeight - one.clientHeight)).toBe(0);
    await list.getByRole("button").last().click();
    const step = page.getByRole("heading", { level: 2 }).first();
    await expect.poll(() => step.evaluate((one) => one.getBoundingClientRect().top)).toBeGreaterThanOrEqual(0);
    expect(await step.evaluate((one) => one.getBoundingClientRect().top < innerHeight)).toBe(true);
    await page.setViewportSize({ width: 1440, height: 900 });

    // To the end: the edits stop before the command.
    await page.getByRole("listitem").filter({ hasText: "pending" }).last().getByRole("button").click();
    await page.getByRole("button", { name: "All edits up to here" }).click();
    const run = page.getByRole("button", { name: "Run command" });
    await run.waitFor();
    expect(await run.isDisabled()).toBe(true);
    expect((await plan()).steps.map((one) => one.state)).toEqual(["done", "pending", "pending", "pending"]);
    expect(stage.problems()).toEqual([]);

    await sound(stage, "replay");
    await page.getByRole("button", { name: "Skip", exact: true }).click();
    await page.getByRole("button", { name: "Do this step" }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Skip", exact: true }).click();
    await page.getByRole("heading", { name: "Compared with the commit" }).waitFor();
    await page
      .getByRole("region", { name: "Compared with the commit" })
      .getByText(/files are as in the commit/)
      .waitFor();
  });

  it("stays as it was while the service is gone, and goes on when it is back", async () => {
    const stage = get();
    const { page } = stage;
    const id = await sessionId(stage, "High and low water");
    await visit(stage, `/replay/${encodeURIComponent(id)}`);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("button", { name: "Do this step" }).waitFor();
    await stage.served.close();
    await page.getByRole("button", { name: "Do this step" }).click();
    await page.getByText("The service does not answer").first().waitFor();
    await stage.start();
    await page.getByRole("button", { name: "Do this step" }).click();
    await page.getByRole("status").getByText("done", { exact: true }).waitFor();
  });

  it("an edit that failed in the original, too, is named so, is no divergence, and all edits go on over it", async () => {
    const stage = get();
    const { page } = stage;
    // Of the service that was away.
    stage.problems();
    const id = await sessionId(stage, "High and low water");
    const plan = async () =>
      (await (await stage.served.kernel.fetch(`/api/sessions/${id}/replay-plan`)).json()) as PlanReport;
    const post = (path: string, body: object) =>
      stage.served.kernel.fetch(path, { method: "POST", body: JSON.stringify({ sessionId: id, ...body }) });
    await post("/api/replay/start", { allowUnisolated: false });
    const { steps } = await plan();
    const at = steps.findIndex(({ recorded, kind }) => recorded.failed && kind !== "command");
    // All before it is done one by one, as a reader does it.
    for (const { seq, source, kind } of steps.slice(0, at))
      expect((await post("/api/replay/step", { seq, source, skip: kind === "command" })).status).toBe(200);
    await load(stage, `/replay/${encodeURIComponent(id)}`);
    const said = page.getByText("This edit failed in the original session too");
    await page.getByRole("button", { name: "Do this step" }).waitFor();
    const failed = page.getByRole("listitem").filter({ hasText: "failed in the original too" });
    await failed.getByRole("button").click();
    await said.waitFor();
    await page.getByText(steps[at]?.recorded.output?.split("\n")[0] ?? "no output").waitFor();
    await sound(stage, "replay, an edit that failed then");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Do this step" }).waitFor();

    // One click a step from there, each with what it changed; a command is only gone to.
    await page.getByRole("button", { name: "Do this step" }).click();
    await page.getByRole("button", { name: `Do next: ${steps[at + 2]?.summary}` }).click();
    await expect.poll(async () => (await plan()).next?.seq).toBe(steps[at + 3]?.seq);
    await page.getByRole("status").getByText("done", { exact: true }).waitFor();
    await page.getByRole("group", { name: "What it changed" }).waitFor();
    await page.getByRole("button", { name: /^Do next/ }).click();
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByRole("button", { name: "Run command" }).waitFor();
    for (const step of [at + 3, at + 2, at + 1]) {
      await page.getByRole("button", { name: "Undo step" }).click();
      await expect.poll(async () => (await plan()).next?.seq).toBe(steps[step]?.seq);
    }

    // In one go from the step before it.
    await page.getByRole("button", { name: "Undo step" }).click();
    await expect.poll(async () => (await plan()).next?.seq).toBe(steps[at - 1]?.seq);
    const last = steps.slice(at).findLast(({ kind }) => kind === "edit");
    await page
      .getByRole("listitem")
      .filter({ hasText: `#${last?.seq}` })
      .getByRole("button")
      .click();
    await page.getByRole("button", { name: "All edits up to here" }).click();
    await page.getByRole("status").getByText("done", { exact: true }).waitFor();
    const after = (await plan()).steps;
    expect(after[at]).toMatchObject({ state: "skipped", result: { matchesRecording: true } });
    expect(after.find(({ seq }) => seq === last?.seq)?.state).toBe("done");
    await failed.getByRole("button").click();
    await said.waitFor();
    await page.getByText("matches the recording").waitFor();
    await page.getByRole("button", { name: "Continue" }).waitFor();
    expect(await page.getByText("differs from the recording").count()).toBe(0);
    expect(stage.problems()).toEqual([]);
  });
});
