/** Search: exact totals, counts of facets, syntax help, what helps when nothing is found, the whole state in the address. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Request } from "playwright-core";
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, settled, useSharedStage, useStage, visit } from "./browser.ts";

describeUi("dashboard: search", () => {
  const get = useSharedStage();

  it("keeps the counts of the other tools when one is chosen", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(stage, "/sessions?q=tide");
    const facets = page.getByRole("complementary", { name: "Filters" });
    const counts = async () =>
      (await facets.locator("details").first().getByRole("button").allInnerTexts()).map((one) =>
        one.replace(/\s+/g, " "),
      );
    await facets.getByRole("button", { name: /^Codex CLI \d/ }).waitFor();
    const before = await counts();
    expect(before.filter((one) => /\d$/.test(one)).length).toBeGreaterThan(2);
    await facets.getByRole("button", { name: /^Codex/ }).click();
    await page.waitForURL(/tool=codex/);
    await settled(page);
    await expect.poll(counts).toEqual(before);
    const promised = Number(/(\d+)$/.exec(before.find((one) => /^Codex/.test(one)) ?? "")?.[1]);
    await expect.poll(() => page.locator("a[data-result]").count()).toBe(promised);
  });

  it("teaches its syntax: an example is tried by a click", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions");
    await page.getByText("Search syntax").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "is:error" }).click();
    await page.waitForURL(/q=is(:|%3A)error/);
    await page.locator("a[data-result]").first().waitFor();
  });

  it("ends where the list ends, with the way to its syntax in the middle of the field", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(stage, "/sessions?q=tide");
    const field = await page.getByRole("main").getByRole("searchbox").boundingBox();
    const link = await page.getByText("Search syntax").boundingBox();
    const middle = (box: typeof field) => (box ? box.y + box.height / 2 : Number.NaN);
    expect(Math.abs(middle(field) - middle(link))).toBeLessThan(1);
    const result = await page
      .locator("li", { has: page.locator("a[data-result]") })
      .first()
      .boundingBox();
    const tabs = await page
      .getByRole("button", { name: "Saved searches" })
      .locator("xpath=ancestor::header")
      .boundingBox();
    expect(result && tabs && Math.abs(result.x + result.width - tabs.x - tabs.width)).toBeLessThan(1);
  });

  it("names what no session contains, without an order or filters, and offers to clear the box", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=zebrafish");
    const main = page.getByRole("main");
    await main.getByText("No session contains “zebrafish”.").waitFor();
    expect(await main.getByRole("group", { name: "Order" }).count()).toBe(0);
    expect(await main.getByRole("complementary", { name: "Filters" }).count()).toBe(0);
    expect(await main.innerText()).not.toMatch(/ in \d+ ms/);
    await main.getByText("Search syntax").click();
    await main.getByText("Exactly these words").waitFor();
    expect(await violations(stage)).toEqual([]);
    // A filter that is set can be given up.
    await visit(stage, "/sessions?q=zebrafish&errors=1");
    await main.getByText("No session contains “zebrafish” with this filter.").waitFor();
    await main.getByRole("complementary", { name: "Filters" }).getByRole("checkbox").waitFor();
    await main.getByRole("button", { name: "Clear", exact: true }).click();
    await expect.poll(() => main.getByRole("searchbox").inputValue()).toBe("");
  });

  it("says what would be found with one condition less, with its count, and does it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=tide+zzzznothing&tool=codex");
    await page.getByText("No session contains “tide zzzznothing” with this filter.").waitFor();
    // Without the tool nothing is found either, so that is not offered.
    const offer = page.getByRole("button", { name: /^Only “tide” \d+ sessions?$/ });
    await offer.waitFor();
    expect(await page.getByRole("button", { name: /^Without/ }).count()).toBe(0);
    const promised = Number(/(\d+) session/.exec(await offer.innerText())?.[1]);
    await offer.click();
    await page.waitForURL((url) => url.searchParams.get("q") === "tide" && url.searchParams.get("tool") === "codex");
    await page.locator("a[data-result]").first().waitFor();
    await expect.poll(() => page.locator("a[data-result]").count()).toBe(promised);
  });

  it("offers a misspelt word as the archive spells it, and searches for that by a click", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=hieghts");
    const offer = page.getByRole("button", { name: /^Did you mean “heights”\? \d+ sessions?$/ });
    await offer.waitFor();
    expect(await violations(stage)).toEqual([]);
    await offer.click();
    await page.waitForURL((url) => url.searchParams.get("q") === "heights");
    await page.locator("mark").first().waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("names the word of several that no message has, and offers a phrase without its quotes", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=tide+zebrafish");
    await page.getByText("No message has all of these words: none has “zebrafish”.").waitFor();
    await visit(stage, `/sessions?q=${encodeURIComponent('"tables tide"')}`);
    const offer = page.getByRole("button", { name: /^Without the quotes \d+ sessions?$/ });
    await offer.waitFor();
    expect(await page.getByRole("button", { name: "Clear the search" }).count()).toBe(0);
    await offer.click();
    await page.waitForURL((url) => url.searchParams.get("q") === "tables tide");
    await page.locator("mark").first().waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("keeps order, days and errors in the address, and shows the same after a reload", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=tide");
    await page.getByRole("radio", { name: "Newest" }).check();
    await page.waitForURL(/sort=recent/);
    await page.getByLabel("From").fill("2020-01-01");
    await page.waitForURL(/from=2020-01-01/);
    await page.getByLabel("Errors only").check();
    await page.waitForURL(/errors=1/);
    await settled(page);
    const titles = await page.locator("a[data-result]").allInnerTexts();
    await page.reload();
    await settled(page);
    expect(await page.getByRole("radio", { name: "Newest" }).isChecked()).toBe(true);
    expect(await page.getByLabel("Errors only").isChecked()).toBe(true);
    expect(await page.locator("a[data-result]").allInnerTexts()).toEqual(titles);
    expect(stage.problems()).toEqual([]);
  });

  it("marks a sub-agent, after the session of a person, and says no text of a hit twice", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=heights");
    const hits = page.locator("main ol > li");
    const agent = hits.filter({ hasText: "Find every place in this repository" });
    await agent.getByText("Sub-agent", { exact: true }).waitFor();
    expect(await page.getByText("Sub-agent", { exact: true }).count()).toBe(1);
    // The prompt is the title, and not a line as well.
    expect((await agent.innerText()).match(/does numeric work/g)).toHaveLength(1);
    const { results } = (await (await stage.served.kernel.fetch("/api/search?q=heights&sort=relevance")).json()) as {
      results: { session: { parentId: string | null } }[];
    };
    expect(results.findIndex(({ session }) => session.parentId !== null)).toBeGreaterThan(0);
    // A wide screen shows more of a title.
    await visit(stage, "/sessions?q=station");
    const cached = hits.filter({ hasText: "Predictions are recomputed" });
    await cached.waitFor();
    expect((await cached.innerText()).match(/Cache them for ten minutes/g)).toHaveLength(1);
    // Before and after an edit are the same but for the change.
    await visit(stage, "/sessions?q=tide+tables");
    const edit = page.locator("main ol li li").filter({ hasText: "README.md" }).first();
    await edit.waitFor();
    expect((await edit.innerText()).match(/Tide tables over HTTP/g)).toHaveLength(1);
    expect(stage.problems()).toEqual([]);
  });

  it("opens the best hit with Enter, and that of what was typed, not of what was found before", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=tide");
    const box = page.getByRole("main").getByRole("searchbox");
    const { results } = (await (await stage.served.kernel.fetch("/api/search?q=heights&sort=relevance")).json()) as {
      results: { session: { id: string } }[];
    };
    await box.fill("heights");
    await box.press("Enter");
    await page.waitForURL((url) => url.pathname.startsWith("/sessions/"));
    expect(decodeURIComponent(new URL(page.url()).pathname)).toContain(results[0]?.session.id);
    await page.goBack();
    await page.waitForURL((url) => url.searchParams.get("q") === "heights");
    // Nothing is found: nothing is opened.
    await box.fill("zebrafish");
    await box.press("Enter");
    await page.getByText("No session contains “zebrafish”.").waitFor();
    expect(new URL(page.url()).pathname).toBe("/sessions");
    expect(stage.problems()).toEqual([]);
  });

  it("shows calls by their tool and what they were called on, best match first", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/sessions?q=path:README.md+kind:tool_use");
    expect(await page.getByRole("radio", { name: "Best match" }).isChecked()).toBe(true);
    const line = page.locator("main ol li li").first();
    await line.waitFor();
    expect(await line.innerText()).toMatch(/\b\w+ \S*README\.md/);
    expect(await page.locator("main ol").innerText()).not.toMatch(/[{}]|\\n/);
  });
});

/** Behind a first page of the newest 25 stand more chunks than a page counts: one session of 64 messages, each as long as a chunk. */
async function fillLong(home: string): Promise<void> {
  const folder = join(home, ".claude/projects/-w-app");
  await mkdir(folder, { recursive: true });
  const row = (session: number, n: number, text: string) =>
    `${JSON.stringify({ type: "user", uuid: `${session}-${n}`, timestamp: new Date(Date.UTC(2026, 9, 1 + session, 0, n)).toISOString(), cwd: "/w/app", message: { role: "user", content: text } })}\n`;
  const write = (session: number, rows: readonly string[]) =>
    writeFile(
      join(folder, `aaaaaaaa-0000-4000-8000-${String(session).padStart(12, "0")}.jsonl`),
      rows.map((text, n) => row(session, n, text)).join(""),
    );
  await write(0, new Array<string>(64).fill(`harbour ${"quiet water ".repeat(5_600)}`));
  for (let session = 1; session <= 27; session++) await write(session, ["harbour", "lighthouse"]);
}

describeUi("dashboard: totals of a search", () => {
  const get = useStage({ fill: fillLong });

  it("turns the first page's bound into the exact number, read out once; a new question ends the counting", async () => {
    const { page, url, problems } = get();
    const status = page.getByRole("main").getByRole("status");
    let held: (() => void) | undefined;
    // The figures beside the filters are another request.
    const isTotal = (request: Request) =>
      request.url().includes("/search/total") && request.headers().accept === "text/event-stream";
    await page.route("**/api/search/total?*", async (route) => {
      if (!isTotal(route.request())) return route.continue();
      await new Promise<void>((go) => {
        held = go;
      });
      await route.continue().catch(() => {}); // given up meanwhile
    });
    const counting = page.getByText("counting…");
    await page.goto(`${url}/sessions?q=harbour&sort=recent`);
    await counting.waitFor();
    expect(await status.innerText()).toMatch(/^25\+ sessions in/);
    await expect.poll(() => held).toBeDefined();
    held?.();
    await expect.poll(() => status.innerText()).toMatch(/^28 sessions in/);
    expect(await counting.count()).toBe(0);

    // What few chunks hold is known with the page: no further request is made.
    const asked: string[] = [];
    page.on("request", (request) => isTotal(request) && asked.push(request.url()));
    await page.getByRole("searchbox").fill("lighthouse");
    await expect.poll(() => status.innerText()).toMatch(/^27 sessions in/);
    expect(asked).toEqual([]);

    await page.getByRole("searchbox").fill("harb");
    await counting.waitFor();
    const ended = page.waitForEvent(
      "requestfailed",
      (request) => isTotal(request) && request.url().endsWith("?q=harb"),
    );
    await page.getByRole("searchbox").fill("lighthouse");
    await ended;
    held?.();
    await expect.poll(() => status.innerText()).toMatch(/^27 sessions in/);
    expect(problems().filter((one) => !one.includes("ERR_FAILED"))).toEqual([]);
  });
});
