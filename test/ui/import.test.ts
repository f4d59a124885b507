/** From nothing to a first session read, and an import that survives leaving and reloading the page. */
import { appendFile, mkdir, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { deferred } from "../_setup.ts";
import { violations } from "./axe.ts";
import { describeUi, painted, settled, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

const ROW = `${JSON.stringify({ type: "user", uuid: "u", timestamp: "2026-11-20T10:00:00.000Z", cwd: "/w/old", message: { role: "user", content: "An old one" } })}\n`;

describeUi("dashboard: a home without logs", () => {
  const get = useStage({ imported: false, fill: async () => {} });

  it("offers sample data and a folder instead of importing nothing, and never says that all is imported", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await page.getByText("npx sessarc --demo", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: /^Import/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Choose a folder" }).click();
    const nothing = page.getByRole("button", { name: "Nothing to import" });
    await nothing.waitFor();
    expect([await nothing.isDisabled(), await page.getByText("All imported").count()]).toEqual([true, 0]);
    await sound(stage, "import, nothing there");
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: opened while the first import runs", () => {
  const get = useStage({ imported: false });

  it("shows how far it is, not figures of nothing; Home is Home for who asks for it", async () => {
    const stage = get();
    const { page, served } = stage;
    const seen = deferred();
    const reached = deferred();
    const unhook = served.kernel.hooks.hook("session:replace", async () => {
      reached.resolve();
      await seen.promise;
    });
    const running = served.kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
    await reached.promise;
    await page.goto(`${stage.url}/`);
    await page.waitForURL(/import\?step=run/);
    await page.getByRole("progressbar", { name: "Importing" }).waitFor();
    await page.getByRole("link", { name: "Now", exact: true }).click();
    await page.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    seen.resolve();
    unhook();
    await running;
    expect(stage.problems()).toEqual([]);
  });
});

// One archive, empty at first, that each test leaves fuller to the next.
describeUi("dashboard: importing", () => {
  const get = useStage({ imported: false });
  /** Nothing is left but what the test adds. */
  const importAll = () =>
    get().served.kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });

  it("offers at first what was found, and says that logs are only read", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/");
    await page.getByRole("heading", { level: 1, name: "Your sessions, in one place" }).waitFor();
    await page.getByText("Logs are only read, never changed.").waitFor();
    await page.getByRole("button", { name: /^Import \d+ sessions$/ }).waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("takes single sessions by keyboard alone", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/import");
    await page.getByRole("button", { name: "Choose…" }).press("Enter");
    await page.waitForURL(/step=choose/);
    await page.getByRole("checkbox", { name: "All sessions" }).press("Space");
    await page.getByRole("button", { name: "Import 0 sessions" }).waitFor();
    await page.getByRole("button", { name: /^tidepool/ }).press("Enter");
    const first = page.locator("ul ul").getByRole("checkbox").first();
    await first.press("Space");
    await page.getByRole("button", { name: "Import 1 session", exact: true }).press("Enter");
    await page.waitForURL(/step=done/);
    await page.getByText("1", { exact: true }).first().waitFor();
    // Whichever the sample data has first, a sub-agent among them: only that one is there.
    const { total } = (await (await stage.served.kernel.fetch("/api/sessions")).json()) as { total: number };
    expect(total).toBe(1);
  });

  it("names its columns, and estimates messages not far from what is stored", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/import?step=choose");
    for (const name of ["Size", "Chosen"]) await page.getByText(name, { exact: true }).first().waitFor();
    const scan = (await (await stage.served.kernel.fetch("/api/scan")).json()) as {
      projects: { sessions: { id: string; state: string; messageEstimate: number }[] }[];
    };
    const [largest] = scan.projects
      .flatMap((one) => one.sessions)
      .filter((one) => one.state === "new")
      .sort((a, b) => b.messageEstimate - a.messageEstimate);
    const report = await stage.served.kernel.fetch("/api/import", {
      method: "POST",
      body: JSON.stringify({ sessions: [largest?.id] }),
    });
    const { messages } = (await report.json()) as { messages: number };
    const ratio = (largest?.messageEstimate ?? 0) / messages;
    expect(ratio).toBeGreaterThan(0.5);
    expect(ratio).toBeLessThan(2);
  });

  it("shows a run again after a reload, cancels it, imports the rest, and opens the newest session", async () => {
    const stage = get();
    const { page, served } = stage;
    // The first session is about to be stored, and stays so until the test has seen enough.
    const seen = deferred();
    const reached = deferred();
    const unhook = served.kernel.hooks.hook("session:replace", async () => {
      reached.resolve();
      await seen.promise;
    });
    await visit(stage, "/import");
    const name = await page.getByRole("button", { name: /^Import \d+ sessions$/ }).innerText();
    const all = Number(/\d+/.exec(name)?.[0]);
    await page.getByRole("button", { name }).click();
    await page.waitForURL(/step=run/);
    await reached.promise;
    await page.getByText("parsing").first().waitFor();
    expect(await page.getByRole("status").allInnerTexts()).toContain("0% imported");
    await page.reload();
    await page.getByRole("progressbar", { name: "Importing" }).waitFor();
    // A second visit by the plain address is about the run, and offers no second one.
    await page.goto(`${stage.url}/import`);
    await page.waitForURL(/step=run/);
    await page.getByRole("progressbar", { name: "Importing" }).waitFor();
    expect(await page.getByRole("button", { name: /^Import \d+ session/ }).count()).toBe(0);
    await page.getByText("parsing").first().waitFor();
    await page.getByText("queued").first().waitFor();
    await page.getByText("Logs are only read, never changed.").waitFor();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await violations(stage)).toEqual([]);
    await page.getByRole("button", { name: "Cancel", exact: true }).press("Enter");
    await page.getByRole("button", { name: "Cancelling…" }).waitFor();
    seen.resolve();
    unhook();
    const heading = page.getByRole("heading", { name: new RegExp(`^Cancelled after \\d+ of ${all} sessions`) });
    await heading.waitFor();
    expect(await violations(stage)).toEqual([]);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe("H2");
    await page.reload();
    await heading.waitFor();
    await page.getByRole("button", { name: "Import the rest" }).press("Enter");
    await page.getByRole("heading", { name: /^The import is done/ }).waitFor();
    await page.reload();
    await settled(page);
    expect(page.url()).toContain("step=done");
    await page.getByRole("button", { name: "Open the newest" }).click();
    await page.waitForURL(/\/sessions\//);
    await page.locator("article").first().waitFor();
    await visit(stage, "/");
    await page.getByRole("heading", { level: 1, name: "Now" }).waitFor();
    await visit(stage, "/import");
    await page.getByRole("button", { name: "All imported" }).waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("says why a session failed, and tries it again", async () => {
    const stage = get();
    const { page, home } = stage;
    await importAll();
    const log = join(home, ".gemini/tmp/0123456789abcdef/chats/session-2026-11-20T10-00-dead.json");
    const whole = JSON.stringify({
      sessionId: "dead",
      startTime: "2026-11-20T10:00:00.000Z",
      messages: [{ id: "1", type: "user", timestamp: "2026-11-20T10:00:00.000Z", content: "hi" }],
    });
    await mkdir(dirname(log), { recursive: true });
    await writeFile(log, whole);
    await truncate(log, 2 ** 31); // of holes: no disk is filled
    const typed = { display: "set sail", timestamp: Date.UTC(2025, 0, 2), project: "/w/app", sessionId: "gone-1" };
    await appendFile(join(home, ".claude/history.jsonl"), `${JSON.stringify(typed)}\n`);
    await visit(stage, "/import");
    await page.getByRole("button", { name: "Import 1 session", exact: true }).click();
    await page.waitForURL(/step=done/);
    await page.getByText("SOURCE_TOO_LARGE").waitFor();
    expect(await violations(stage)).toEqual([]);
    await writeFile(log, whole);
    await page.getByRole("button", { name: "Retry 1 failed" }).click();
    await page.getByText("SOURCE_TOO_LARGE").waitFor({ state: "detached" });
    await page.getByRole("heading", { name: /^The import is done/ }).waitFor();
    await page.getByText("1 session was deleted before sessarc came. 1 prompt is back.").waitFor();
    await page.getByRole("link", { name: "Show them" }).click();
    await page.getByText("set sail").waitFor();
  });

  it("adds one by keyboard, says what is wrong with another, and takes it away by mouse", async () => {
    const stage = get();
    const { page, home } = stage;
    await importAll();
    const backup = join(dirname(home), "backup");
    const log = join(backup, ".claude/projects/-w-old/00000000-0000-4000-8000-00000000beef.jsonl");
    await mkdir(dirname(log), { recursive: true });
    await writeFile(log, ROW);
    await visit(stage, "/import");
    const field = page.getByRole("textbox", { name: "Folder" });
    await field.fill(join(home, ".claude"));
    await field.press("Enter");
    await page.getByText(/is read already: it is part of/).waitFor();
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await violations(stage)).toEqual([]);
    await field.fill(backup);
    await field.press("Enter");
    await page.getByText("Added: 1 session found there.").waitFor();
    expect(await field.inputValue()).toBe("");
    await page.getByRole("button", { name: "Import 1 session", exact: true }).waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
    expect(await violations(stage)).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await visit(stage, "/settings/sources");
    await page.getByRole("region", { name: "Claude Code" }).getByText(backup, { exact: true }).waitFor();
    await page.getByRole("button", { name: `Remove ${backup}` }).click();
    await page.getByText(backup, { exact: true }).waitFor({ state: "detached" });
    await visit(stage, "/import");
    await page.getByRole("button", { name: "All imported" }).waitFor();
    // The refused folder is the one failed request.
    expect(stage.problems().filter((one) => !one.includes("409"))).toEqual([]);
  });
});

describeUi("dashboard: an import at work", () => {
  const get = useStage({ imported: false });

  it("shows one percentage: the rail and the page agree whenever it changes", async () => {
    const stage = get();
    const { page, served } = stage;
    // Each session waits at the gate until the test has read both numbers.
    const passes: (() => void)[] = [];
    const unhook = served.kernel.hooks.hook("session:replace", async () => {
      await new Promise<void>((pass) => passes.push(pass));
    });
    await visit(stage, "/import");
    await page.getByRole("button", { name: /^Import \d+ sessions$/ }).click();
    await page.getByRole("progressbar", { name: "Importing" }).waitFor();
    // Both numbers of every frame that is drawn.
    await page.evaluate(() => {
      const seen = new Set<string>();
      const note = () => {
        const bar = document.querySelector("main [role=progressbar]");
        const rail = /\d+%/.exec(document.querySelector("[data-rail]")?.textContent ?? "");
        if (bar && rail) seen.add(`${bar.getAttribute("aria-valuenow")}% ${rail[0]}`);
        document.body.dataset.percents = [...seen].join();
        requestAnimationFrame(note);
      };
      note();
    });
    while (!/step=done/.test(page.url())) {
      passes.shift()?.();
      await painted(page);
    }
    unhook();
    const seen = ((await page.evaluate(() => document.body.dataset.percents)) ?? "").split(",");
    expect(seen.some((pair) => /^[1-9]\d?% /.test(pair))).toBe(true);
    expect(seen.filter((pair) => new Set(pair.split(" ")).size !== 1)).toEqual([]);
  });
});

describeUi("dashboard: start at login", () => {
  const get = useStage();

  it("is asked after an import, shows what would be written, and is not asked again after a no", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/import?step=run&all=1");
    await page.getByRole("heading", { name: "Keep sessarc running, and start it at login?" }).waitFor();
    await page.getByRole("button", { name: "Show what is written" }).click();
    await page.locator("pre", { hasText: "supervise.mjs" }).waitFor();
    await sound(stage, "import, start at login");
    await page.getByRole("button", { name: "Not now" }).click();
    await page.getByRole("button", { name: "Not now" }).waitFor({ state: "detached" });
    await visit(stage, "/settings/service#login");
    await page.getByRole("button", { name: "Start at login" }).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
