/** The commits of a project: the one that an address names. */
import { execFileSync } from "node:child_process";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { describeGit } from "../git/_repo.ts";
import { describeUi, projectId, settled, useSharedStage, useStage, visit } from "./browser.ts";
import { inHome, writeRepository, writeSessionIn } from "./repository.ts";

const START = new Date("2026-11-10T09:00:00Z");
const COMMITS = 130;

describeGit("the commits of a project", () => {
  describeUi("dashboard: changes", () => {
    let oldest = "";
    const get = useStage({
      fill: async (home) => {
        const root = inHome(home, "harbour");
        const commits = Array.from({ length: COMMITS }, (_, i) => ({
          at: new Date(START.getTime() + i * 60_000),
          subject: `Berth ${i}`,
          files: { "berths.txt": `${i}\n` },
        }));
        await writeRepository(root, commits);
        oldest = execFileSync("git", ["-C", root, "rev-list", "--max-parents=0", "main"], { encoding: "utf8" }).trim();
        await writeSessionIn(home, root, "Berths of the harbour", START);
      },
    });

    it("opens the commit that the address names, however far down the list it is", async () => {
      const stage = get();
      await visit(stage, `/projects/${await projectId(stage, "harbour")}?tab=changes&commit=${oldest}`);
      const named = stage.page.getByRole("button", { name: "Berth 0", exact: true });
      await named.waitFor({ timeout: 15_000 });
      expect(await named.getAttribute("aria-expanded")).toBe("true");
      // What it cost is in the window, not below it.
      const figures = stage.page.getByText(/^(Sessions and prompts|No archived session)/).first();
      await expect.poll(() => figures.evaluate((one) => one.getBoundingClientRect().bottom < innerHeight)).toBe(true);
    });
  });
});

describeUi("dashboard: a commit of a project", () => {
  const get = useSharedStage();

  it("opens without moving a row, and has its figures below their heads", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "tidepool")}?tab=changes`);
    const commit = page.getByRole("button", { name: "Give the cache its time to live in seconds" });
    const leftOf = (locator: Locator) => locator.evaluate((one) => one.getBoundingClientRect().left);
    const rightOf = (locator: Locator) => locator.evaluate((one) => one.getBoundingClientRect().right);
    const before = await leftOf(commit);
    await commit.click();
    const title = page.getByRole("link", { name: "Why the build server fails" });
    await title.waitFor();
    await settled(page);
    expect(await leftOf(commit)).toBe(before);
    expect(await leftOf(page.getByRole("link", { name: /^Message 0 · / }))).toBe(await leftOf(title));
    const cost = page.getByRole("columnheader", { name: "Cost" });
    expect(await rightOf(page.locator("dl[aria-label='What no commit took'] dd").first())).toBe(await rightOf(cost));
  });
});
