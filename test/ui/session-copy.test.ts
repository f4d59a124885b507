/** What a person takes out of a session: texts, commands, code and links, the command that resumes it, and what prompts cost. */
import { expect, it } from "vitest";
import { describeUi, load, sessionId, settled, useSharedStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

describeUi("dashboard: taking out of a session", () => {
  const get = useSharedStage();
  const copied = () => get().page.evaluate(() => navigator.clipboard.readText());
  const message = (kind: string) =>
    get()
      .page.locator("article")
      .filter({ has: get().page.getByText(kind, { exact: true }) })
      .first();

  it("copies a message's text and link from its menu, by keyboard too", async () => {
    const stage = get();
    const { page } = stage;
    await stage.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    const id = await sessionId(stage, "High and low water");
    await visit(stage, `/sessions/${id}?m=0`);
    const first = message("You");
    await first.hover();
    await first.getByRole("button", { name: "Copy from this message" }).click();
    // A notice goes after seconds: it is awaited from before the click.
    await Promise.all([
      page.getByText("Copied").first().waitFor(),
      page.getByRole("menuitem", { name: "Copy text" }).click(),
    ]);
    const { messages } = (await (await stage.served.kernel.fetch(`/api/sessions/${id}/messages?limit=40`)).json()) as {
      messages: { seq: number; kind: string; text: string; tool_input?: { command?: string } }[];
    };
    expect(await copied()).toBe(messages.find((one) => one.kind === "user")?.text);
    const menu = first.getByRole("button", { name: "Copy from this message" });
    await menu.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("menuitem", { name: "Copy link" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(copied).toMatch(/\/sessions\/[^?]+\?m=0$/);
    await visit(stage, new URL(await copied()).pathname + new URL(await copied()).search);
    await page.locator('article[data-seq="0"][aria-current=true]').waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("copies the command that goes on with the session, and the path of its log", async () => {
    const stage = get();
    const { page } = stage;
    const id = await sessionId(stage, "High and low water");
    const detail = (await (await stage.served.kernel.fetch(`/api/sessions/${id}`)).json()) as {
      session: { cwd: string; source: { path: string } };
      resume: { command: string };
    };
    await visit(stage, `/sessions/${id}`);
    const choose = async (name: string) => {
      await page.getByRole("button", { name: "Session actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await choose("Copy resume command");
    await expect.poll(copied).toBe(detail.resume.command);
    expect(detail.resume.command).toMatch(/^cd '.+' && claude --resume [\w-]+$/);
    await choose("Copy the path of its log");
    await expect.poll(copied).toBe(detail.session.source.path);
  });

  it("shows what the browser did not copy, selected", async () => {
    const stage = get();
    const { page } = stage;
    await page.setViewportSize({ width: 1440, height: 900 });
    const id = await sessionId(stage, "High and low water");
    await load(stage, `/sessions/${id}`);
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException("Write permission denied."));
    });
    await page.getByRole("button", { name: "Copy resume command" }).first().click();
    const dialog = page.getByRole("dialog", { name: "Copy it yourself" });
    const field = dialog.getByRole("textbox");
    await expect.poll(() => field.evaluate((one: HTMLTextAreaElement) => one.selectionEnd)).toBeGreaterThan(10);
    expect(await field.inputValue()).toMatch(/^cd '.+' && claude --resume [\w-]+$/);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(stage.problems()).toEqual([]);
  });

  it("says in the outline what each prompt led to, the same as the service", async () => {
    const stage = get();
    const { page } = stage;
    const id = await sessionId(stage, "High and low water");
    const costs = (await (await stage.served.kernel.fetch(`/api/sessions/${id}/prompts`)).json()) as {
      missing: string | null;
      prompts: { tokens: Record<string, number>; cost: { microdollars: number } }[];
    };
    expect(costs.missing).toBeNull();
    await visit(stage, `/sessions/${id}?pane=outline`);
    await settled(page);
    const shown = page.locator("[title$='tokens up to the next one']");
    const spent = costs.prompts.filter((one) => Object.values(one.tokens).some((n) => n > 0));
    expect(await shown.count()).toBe(spent.length);
    expect(await shown.first().getAttribute("title")).toContain(
      Object.values(spent[0]?.tokens ?? {})
        .reduce((sum, n) => sum + n, 0)
        .toLocaleString("en"),
    );
    await sound(stage, "outline with costs");
  });
});
