/** A screen without rows says what to do next: fill the archive, or give up a condition by its name, in one click. */
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { describeUi, load, useStage } from "./browser.ts";

describeUi("dashboard: an empty archive", () => {
  const get = useStage({ imported: false, fill: async () => {} });

  it.each([
    "/projects",
    "/sessions",
    "/calls",
    "/usage",
    "/search?q=zebra",
    "/notes",
    "/compare",
    "/tools/secrets",
    "/shares",
    "/rescue",
  ])("%s says how to fill it", async (address) => {
    const { page } = get();
    await load(get(), address);
    await page.getByText("Nothing is archived yet.").waitFor();
    await page.getByText("npx sessarc --demo", { exact: true }).waitFor();
    await page.getByRole("main").getByRole("button", { name: "Choose a folder", exact: true }).click();
    await page.waitForURL("**/import");
  });

  it("the usage of an empty archive offers no report and no range", async () => {
    const { page } = get();
    await load(get(), "/usage");
    await page.getByText("Nothing is archived yet.").waitFor();
    expect(await page.getByRole("button", { name: "Report" }).count()).toBe(0);
    expect(await page.getByRole("group", { name: "Range" }).count()).toBe(0);
  });

  it("the import says that this machine has no logs, and how to see sample data", async () => {
    const { page } = get();
    await load(get(), "/import");
    await page.getByText("No logs of a coding assistant were found on this machine.").waitFor();
    await page.getByText("npx sessarc --demo", { exact: true }).waitFor();
    await page.getByText(/^\d+ assistants were looked for$/).waitFor();
  });

  it.each([
    ["/tools/secrets?view=guard", "No call was checked yet.", "Check archived calls", "/tools/secrets?view=guard"],
    ["/tools/skills", "No skills in the store yet.", "Find skills on this machine", "/tools/skills/scan"],
    ["/tools/advanced?view=calls", "No calls yet.", "Try a tool", "/tools/advanced?view=try"],
    ["/tools/advanced?view=log", "Nothing went through the hub yet.", "Try a tool", "/tools/advanced?view=try"],
  ])("%s: “%s” and “%s”", async (address, text, label, then) => {
    const { page } = get();
    await load(get(), address);
    await page.getByText(text).waitFor();
    await page.getByRole("main").getByRole("button", { name: label, exact: true }).last().click();
    await page.waitForURL((url) => `${url.pathname}${url.search}` === then);
  });

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
    ["/sessions?errors=1&model=none", "Clear all filters", "/sessions"],
    ["/sessions?from=2020-01-01&to=2020-01-02", "Show all time", "/sessions"],
    ["/calls?name=Zap&days=all", "Without “Zap”", "/sessions?days=all&view=calls"],
    ["/usage?from=2020-01-01&to=2020-01-02", "Show all time", "/usage?days=all"],
    ["/projects?q=zebra", "Without “zebra”", "/projects"],
    ["/notes?bookmarked=1", "Without “Bookmarks only”", "/sessions?view=notes"],
    ["/tools/secrets?state=rotated", "Without “Revoked”", "/tools/secrets?state=all"],
    ["/tools/advanced?q=zebra", "Without “zebra”", "/tools/advanced"],
    ["/tools/advanced?show=own", "Without “My own”", "/tools/advanced"],
    ["/rescue?state=gone", "Show “Deleted soon”", "/sessions?state=dying&view=hidden"],
    ["/shares", "Sessions", "/sessions"],
    ["/compare", "To the sessions", "/sessions"],
  ])("%s: “%s” shows more", async (address, label, then) => {
    const { page } = get();
    await load(get(), address);
    // A search says how much there would be.
    const name = new RegExp(`^${label}( \\d+ sessions?)?$`);
    await page.getByRole("main").getByRole("button", { name }).click();
    await page.waitForURL((url) => `${url.pathname}${url.search}` === then);
  });
});
