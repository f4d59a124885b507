/** A session in figures: each leads to its message. */
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, sessionId, useSharedStage, visit } from "./browser.ts";

describeUi("dashboard: overview of a session", () => {
  const get = useSharedStage();
  const open = async (title: string) => {
    const stage = get();
    await visit(stage, `/sessions/${await sessionId(stage, title)}?view=overview`);
    return { stage, page: stage.page };
  };

  it("draws how full the context was, names the window, and leads to the fullest message", async () => {
    const { stage, page } = await open("High and low water");
    const chart = page.getByRole("img", { name: /Context used: 6 replies; .*11% of 200K/ });
    await chart.waitFor();
    const places = (await chart.locator("polyline").getAttribute("points"))?.split(" ") ?? [];
    expect(places).toHaveLength(6);
    const heights = places.map((place) => Number(place.split(",")[1]));
    expect(heights).toEqual([...heights].sort((a, b) => b - a));
    if (LONG) expect(await violations(stage)).toEqual([]);
    await page.getByRole("link", { name: /^Fullest at #/ }).press("Enter");
    await page.waitForURL(/\?m=\d+$/);
    await page.locator("article[aria-current=true]").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("reports it where a tool does not write tokens by reply", async () => {
    const stage = get();
    const { sessions } = (await (await stage.served.kernel.fetch("/api/sessions?tool=cursor")).json()) as {
      sessions: { id: string }[];
    };
    const asked = await Promise.all(
      sessions.map(async ({ id }) => {
        const answer = await stage.served.kernel.fetch(`/api/sessions/${encodeURIComponent(id)}/context`);
        return { id, missing: ((await answer.json()) as { missing: string | null }).missing };
      }),
    );
    const silent = asked.find((one) => one.missing === "replies");
    await visit(stage, `/sessions/${silent?.id}?view=overview`);
    await stage.page.getByText("Cursor does not write the tokens of single replies into this log.").waitFor();
  });

  it("reports it where the cost of single prompts is not known", async () => {
    const { page } = await open("Extremes by root finding");
    const prompts = page.locator("section", { has: page.getByRole("heading", { name: "Most expensive prompts" }) });
    await prompts.getByText(/does not add up to this session/).waitFor();
    expect(await prompts.getByRole("link").count()).toBe(0);
  });

  it("lists the cost with the date of its prices, files touched, and failed calls that lead to their message", async () => {
    const { page } = await open("High and low water");
    await page.getByText(/^list prices, 20\d\d-/).waitFor();
    // One model has all of the tokens: no table says them again, and nothing says its span twice.
    await page
      .locator("section", { has: page.getByRole("heading", { name: "Tokens" }) })
      .getByText("Claude Opus 4.5")
      .waitFor();
    expect(await page.getByRole("heading", { name: "Models" }).count()).toBe(0);
    expect(await page.getByText(/^over \d/).count()).toBe(0);
    expect(await page.getByRole("row", { name: /src\/server\.js/ }).innerText()).toMatch(/\s1\s+3$/);
    const failures = page.locator("section", { has: page.getByRole("heading", { name: "Failed calls" }) });
    await failures.getByRole("link", { name: /Edit #11/ }).click();
    await page.waitForURL(/\?m=11$/);
    await page.locator("article[aria-current=true]").getByText("String to replace not found").waitFor();
  });
});
