/** Notifications of a followed session: asked for by a click, one for each turn that ends, none that the browser refuses. */
import { rm } from "node:fs/promises";
import { expect, it } from "vitest";
import { violations } from "./axe.ts";
import { describeUi, load, type Stage, useStage, visit } from "./browser.ts";
import { appendMessages, type LongSession, writeLongSession } from "./long-session.ts";

interface Shown {
  words: string;
  body: string;
}

describeUi("dashboard: notifications", () => {
  let log: LongSession = { id: "", path: "" };
  const get = useStage({
    fill: async (home) => {
      log = await writeLongSession(home, 40, Date.now() - 5_000);
    },
    turns: { restMs: 0 },
  });
  const bell = ({ page }: Stage) => page.getByRole("button", { name: "Notify me when it waits or ends" });
  const shown = ({ page }: Stage) => page.evaluate(() => (window as unknown as { shown: Shown[] }).shown);
  /** Waits until the service has told how things stand. */
  const isKnown = ({ page }: Stage) =>
    page.waitForFunction(() => localStorage.getItem("sessarc:followed")?.includes('"turn"'));

  it("says so where the browser refuses, follows nothing, and shows no bell on a session that rests", async () => {
    const stage = get();
    await load(stage, `/sessions/${log.id}`);
    await bell(stage).click();
    await stage.page.getByText("This browser lets no notifications through").waitFor();
    expect(await bell(stage).getAttribute("aria-pressed")).toBe("false");
    await visit(stage, "/settings/general");
    await stage.page.locator("#notifications").getByText("This browser lets no notifications through").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("tells once that it waits, whichever screen is open; a click leads there; its end is told, too", async () => {
    const stage = get();
    const { page, context, url } = stage;
    await context.grantPermissions(["notifications"], { origin: url });
    // The system's own notices cannot be seen from here: what is handed to them can.
    await page.addInitScript(() => {
      const told: Shown[] = [];
      const Real = window.Notification;
      window.Notification = class extends Real {
        constructor(words: string, options?: NotificationOptions) {
          super(words, options);
          told.push({ words, body: options?.body ?? "" });
          Object.assign(window, { shown: told, last: this });
        }
      };
      Object.assign(window, { shown: told });
    });
    await load(stage, `/sessions/${log.id}`);
    await bell(stage).click();
    await page.getByText("You are notified when this session waits").waitFor();
    expect(await bell(stage).getAttribute("aria-pressed")).toBe("true");
    await isKnown(stage);
    // How it stood is no news, nor after a load.
    await load(stage, "/settings/general");
    const row = page.locator("#notifications");
    await row.getByText("1 followed").waitFor();
    expect(await violations(stage)).toEqual([]);
    expect(await shown(stage)).toEqual([]);

    await appendMessages(log, 3, "Done as you asked");
    await expect.poll(async () => (await shown(stage)).map(({ words }) => words)).toEqual(["It waits for you"]);
    await page.evaluate(() => (window as unknown as { last: Notification }).last.dispatchEvent(new Event("click")));
    await page.waitForURL((address) => address.pathname === `/sessions/${log.id}`);

    await appendMessages(log, 2, "And more");
    await expect.poll(async () => (await shown(stage)).length).toBe(2);
    await visit(stage, "/settings/general");
    await row.getByRole("button", { name: /^No notifications of/ }).click();
    await row.getByText("No session is followed.").waitFor();
    await rm(log.path);
    expect((await shown(stage)).length).toBe(2);
    stage.problems();
  });
});
