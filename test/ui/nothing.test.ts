/** A screen without rows says what to do next: fill the archive, or give up a condition by its name, in one click. */
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { describeUi, load, useStage } from "./browser.ts";

describeUi("dashboard: an empty archive", () => {
  const get = useStage({ imported: false, fill: async () => {} });

  it.each(["/projects", "/sessions", "/calls", "/usage", "/search?q=zebra"])(
    "%s says how to fill it",
    async (address) => {
      const { page } = get();
      await load(get(), address);
      await page.getByText("Nothing is archived yet.").waitFor();
      await page.getByText("npx sessarc --demo", { exact: true }).waitFor();
      await page.getByRole("main").getByRole("button", { name: "Import", exact: true }).last().click();
      await page.waitForURL("**/import");
    },
  );

  it("offers no assistant to filter by that the archive has no session of", async () => {
    const { page } = get();
    await load(get(), "/calls");
    await page.getByText("Nothing is archived yet.").waitFor();
    await page.getByRole("combobox", { name: "Assistant" }).click();
    await page.getByRole("option").first().waitFor();
    expect(await page.getByRole("option").allTextContents()).toEqual(["All assistants"]);
  });
});

describeUi("dashboard: conditions that nothing passes", () => {
  const get = useStage({ fill: (home) => writeDemo({ home }) });

  it.each([
    ["/sessions?q=zebra&tool=codex", "Without “zebra”", "/sessions?tool=codex"],
    ["/sessions?errors=1&model=none", "Without “none”", "/sessions?errors=1"],
    ["/sessions?from=2020-01-01&to=2020-01-02", "Show all time", "/sessions"],
    ["/calls?name=Zap&days=all", "Without “Zap”", "/calls?days=all"],
    ["/usage?from=2020-01-01&to=2020-01-02", "Show all time", "/usage?days=all"],
    ["/projects?q=zebra", "Without “zebra”", "/projects"],
    ["/notes?bookmarked=1", "Without “Bookmarks only”", "/notes"],
  ])("%s: “%s” shows more", async (address, label, then) => {
    const { page } = get();
    await load(get(), address);
    await page.getByRole("button", { name: label, exact: true }).click();
    await page.waitForURL((url) => `${url.pathname}${url.search}` === then);
  });
});
