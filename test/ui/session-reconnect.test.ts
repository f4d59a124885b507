/** A session that is followed while the service stops and starts again: nothing lost, nothing twice, nothing moves. */
import { appendFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, useStage, visit } from "./browser.ts";
import { type LongSession, writeLongSession } from "./long-session.ts";

describeUi("dashboard: a live connection that is lost", () => {
  let long: LongSession = { id: "", path: "" };
  const get = useStage({
    fill: async (home) => {
      long = await writeLongSession(home, 600);
    },
  });
  let written = 0;
  const append = async (n: number, text: string) => {
    const lines = Array.from({ length: n }, (_, i) =>
      JSON.stringify({
        uuid: `new-${++written}`,
        sessionId: "aaaaaaaa-bbbb-4ccc-8ddd-000000020000",
        cwd: "/home/dev/long",
        version: "2.1.0",
        timestamp: new Date(Date.UTC(2026, 10, 20, 18, 30, written)).toISOString(),
        type: "user",
        message: { role: "user", content: `${text} ${i}` },
      }),
    );
    await appendFile(long.path, `${lines.join("\n")}\n`);
  };
  const open = async (query: string) => {
    const stage = get();
    const { page } = stage;
    // What a test before wrote is not new any more.
    await stage.served.kernel.fetch("/api/sync?wait=1", { method: "POST" });
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(stage, `/sessions/${long.id}?tail=1${query}`);
    await page.getByText("following", { exact: true }).first().waitFor();
    const asked: string[] = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname.split("/").at(-1) ?? ""));
    const pill = page.locator("header").getByText(/^reconnecting \(\d+ s\)$/);
    return { stage, page, asked, pill };
  };

  it("reports it with a counter, keeps what is read, and fetches only what is newer", async () => {
    const { stage, page, asked, pill } = await open("&m=300");
    await page.locator("article[aria-current=true]").waitFor();
    await append(2, "before it stopped");
    await page.getByRole("button", { name: /Newest \(2 new\)/ }).waitFor();
    const place = () =>
      page.evaluate(() => {
        const row = document.querySelector("article[aria-current=true]");
        return [row?.getBoundingClientRect().top, document.querySelector("[data-transcript]")?.scrollTop];
      });
    const before = await place();
    await stage.served.close();
    await pill.waitFor();
    // The counter goes on, and there is one word of it on the page.
    const first = await pill.innerText();
    await page.waitForFunction(
      (was) => document.querySelector("header [role=status]")?.textContent?.includes(was) === false,
      first.slice(-5),
    );
    expect(
      await page
        .getByText(/reconnecting \(\d+ s\)/i)
        .and(page.locator("p"))
        .count(),
    ).toBe(0);
    expect(await violations(stage)).toEqual([]);
    expect(await place()).toEqual(before);
    await append(3, "while it was away");
    asked.length = 0;
    await stage.start();
    await page.getByRole("button", { name: /Newest \(5 new\)/ }).waitFor();
    expect(await pill.count()).toBe(0);
    expect(await place()).toEqual(before);
    expect(asked.filter((one) => ["outline", "messages"].includes(one))).toEqual([]);
    await append(1, "after it came back");
    await page.getByRole("button", { name: /Newest \(6 new\)/ }).click();
    await page.locator("article").getByText("after it came back 0").waitFor();
    // A row is there before its text is set.
    const texts = async () => (await page.locator("article .prose").allInnerTexts()).map((text) => text.trim());
    await expect
      .poll(async () => (await texts()).filter((text) => / it (stopped|was away|came back) \d$/.test(text)))
      .toEqual([
        "before it stopped 0",
        "before it stopped 1",
        "while it was away 0",
        "while it was away 1",
        "while it was away 2",
        "after it came back 0",
      ]);
    stage.problems();
  });

  it("does not move the page on a small screen either", async () => {
    const { stage, page, pill } = await open("&m=300");
    await page.setViewportSize({ width: 390, height: 800 });
    await page.locator("header").getByText("following", { exact: true }).waitFor();
    // Nothing in the head is over its neighbour.
    const over = () =>
      page
        .locator("main header")
        .last()
        .evaluate((head) => {
          const parts = [...head.querySelectorAll("a, button, label, [role=status]")].filter(
            (one) => one.clientWidth > 1,
          );
          const boxes = parts.map((one) => [one, one.getBoundingClientRect()] as const);
          return boxes.flatMap(([one, a]) =>
            boxes
              .filter(([other, b]) => !one.contains(other) && !other.contains(one) && one !== other && a.left < b.left)
              .filter(([, b]) => b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1)
              .map(([other]) => `${one.textContent?.trim()} | ${other.textContent?.trim()}`),
          );
        });
    expect(await over()).toEqual([]);
    const height = async () => (await page.locator("main header").last().boundingBox())?.height;
    const before = await height();
    await stage.served.close();
    await pill.waitFor();
    expect(await height()).toBe(before);
    expect(await over()).toEqual([]);
    if (LONG) expect(await violations(stage)).toEqual([]);
    await stage.start();
    await page.locator("header").getByText("following", { exact: true }).waitFor();
    stage.problems();
  });

  it("tries at once when asked", async () => {
    const { stage, page, pill } = await open("&m=300");
    for (const press of LONG ? [false, true] : [true]) {
      // It is back before it is asked for; the page learns of it when it may, so that its own next try cannot well be first.
      await page.route("**/live*", (route) => route.abort("connectionrefused"));
      await stage.served.close();
      await stage.start();
      await pill.waitFor();
      const retry = page.locator("header").getByRole("button", { name: "Retry now" });
      // So long a pause that a busy machine presses before it is over.
      await page
        .locator("header")
        .getByText(/\(([6-9]|1\d) s\)$/)
        .waitFor();
      await page.unroute("**/live*");
      if (press) await retry.press("Enter");
      else await retry.click();
      await page.locator("header").getByText("following", { exact: true }).waitFor();
    }
    await append(1, "once more");
    await page.getByRole("button", { name: /Newest \(1 new\)/ }).waitFor();
    stage.problems();
  });
});
