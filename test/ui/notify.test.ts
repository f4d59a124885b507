/** Notifications of a followed session: asked for by a click, one for each turn that ends, none that the browser refuses. */
import { appendFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, load, type Stage, useStage, visit } from "./browser.ts";
import { type LongSession, writeLongSession } from "./long-session.ts";

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
  let added = 0;
  /** The assistant answers, as the last line of its log. */
  const answer = (text: string) => {
    const head = {
      uuid: `live${++added}`,
      sessionId: log.id.replace(/^.*:/, ""),
      cwd: "/home/dev/long",
      version: "2.1.0",
    };
    const usage = { input_tokens: 10, output_tokens: 4 };
    const content = [{ type: "text", text }];
    const message = { id: `lm${added}`, role: "assistant", model: "claude-sonnet-4-5", content, usage };
    const row = { ...head, timestamp: new Date().toISOString(), type: "assistant", requestId: `lr${added}`, message };
    return appendFile(log.path, `${JSON.stringify(row)}\n`);
  };
  const bell = ({ page }: Stage) => page.getByRole("button", { name: "Notify me when it waits or ends" });
  const shown = ({ page }: Stage) => page.evaluate(() => (window as unknown as { shown: Shown[] }).shown);
  /** Waits until the service has told how things stand. */
  const isKnown = ({ page }: Stage) =>
    page.waitForFunction(() => localStorage.getItem("sessarc:followed")?.includes('"turn"'));

  it("reports it where the browser refuses, and follows nothing", async () => {
    const stage = get();
    await load(stage, `/sessions/${log.id}`);
    await Promise.all([stage.page.getByText("Notifications are blocked").waitFor(), bell(stage).click()]);
    expect(await bell(stage).getAttribute("aria-pressed")).toBe("false");
    await visit(stage, "/settings/privacy");
    await stage.page.locator("#notifications").getByText("Notifications are blocked").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("tells once for each turn, whichever screen is open; a click leads there; no longer when it is not wanted", async () => {
    const stage = get();
    const { page } = stage;
    // A browser without windows refuses all notices: this one is asked, grants, and remembers what it was handed.
    await page.addInitScript(() => {
      const told: Shown[] = [];
      class Notice extends EventTarget {
        static permission = sessionStorage.getItem("granted") ?? "default";
        static requestPermission() {
          Notice.permission = "granted";
          sessionStorage.setItem("granted", "granted");
          return Promise.resolve("granted");
        }
        onclick: (() => void) | null = null;
        constructor(words: string, options: NotificationOptions) {
          super();
          told.push({ words, body: options.body ?? "" });
          Object.assign(window, { last: this });
        }
        close() {}
      }
      Object.assign(window, { Notification: Notice, shown: told });
    });
    const asked = () => page.evaluate(() => Notification.permission);
    await load(stage, `/sessions/${log.id}`);
    // No permission is requested before the click.
    expect(await asked()).toBe("default");
    // A notice goes after seconds: it is awaited from before the click.
    await Promise.all([page.getByText("You are notified when this session waits").waitFor(), bell(stage).click()]);
    expect(await bell(stage).getAttribute("aria-pressed")).toBe("true");
    await isKnown(stage);
    // How it stood is no news, nor after a load.
    await load(stage, "/settings/privacy");
    const row = page.locator("#notifications");
    await row.getByText("1 followed").waitFor();
    if (LONG) expect(await violations(stage)).toEqual([]);
    expect(await shown(stage)).toEqual([]);

    await answer("Done as you asked");
    await expect.poll(async () => (await shown(stage)).map(({ words }) => words)).toEqual(["It waits for you"]);
    await page.evaluate(() => (window as unknown as { last: { onclick(): void } }).last.onclick());
    await page.waitForURL((address) => address.pathname === `/sessions/${log.id}`);

    await answer("And more");
    await expect.poll(async () => (await shown(stage)).length).toBe(2);
    await visit(stage, "/settings/privacy");
    await row.getByRole("button", { name: /^No notifications of/ }).click();
    await row.getByText("No session is followed.").waitFor();
    expect(await page.evaluate(() => localStorage.getItem("sessarc:followed"))).toBeNull();
    expect(stage.problems()).toEqual([]);
  });
});
