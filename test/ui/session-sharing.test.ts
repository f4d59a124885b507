/** What leaves a session: findings of secrets, the shared page, the way to other sessions. */
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, sessionId, useStage, visit } from "./browser.ts";

const SECRET = /sk_live_\w{8,}/;

describeUi("dashboard: sharing a session", () => {
  const get = useStage();
  const open = async (query = "") => {
    const stage = get();
    await visit(stage, `/sessions/${await sessionId(stage, "Read the settings")}${query}`);
    return stage;
  };

  it("lists what looks like a secret, masked, and leads to its message", async () => {
    const stage = await open("?view=security");
    const { page } = stage;
    await page.getByRole("heading", { name: /1 secret in/ }).waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(SECRET);
    const asked = page.waitForResponse(/security-check\?personal=1$/);
    await page.getByRole("switch", { name: "Include personal data" }).press("Space");
    expect((await asked).status()).toBe(200);
    // With the line it is in, and what to do about it.
    await page.getByRole("heading", { name: "What to do" }).waitFor();
    await page.getByRole("link", { name: /PAYMENTS_KEY=.*sk_live_•/ }).click();
    await page.waitForURL(/\?m=3$/);
    await page.locator("article[aria-current=true]").getByText("PAYMENTS_KEY").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("says what is replaced, shows the page, and gives a link that opens it", async () => {
    const stage = await open();
    const { page } = stage;
    await page.getByRole("button", { name: "Session actions" }).press("Enter");
    await page.getByRole("menuitem", { name: "Share" }).press("Enter");
    const dialog = page.getByRole("dialog", { name: "Share this session" });
    await dialog.getByText("1 value is replaced by a placeholder").waitFor();
    await dialog.getByText("Stripe access token 1").waitFor();
    const frame = dialog.frameLocator("iframe");
    await frame.getByText("1 place was redacted").waitFor();
    await frame.getByText("Bash").first().click();
    await frame.getByText("[REDACTED:stripe-access-token").first().waitFor();
    expect(await frame.locator("body").innerText()).not.toMatch(SECRET);
    if (LONG) expect(await violations(stage)).toEqual([]);
    await dialog.getByText("30 days").click();
    await stage.context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await dialog.getByRole("button", { name: "Create and copy link" }).click();
    const link = dialog.getByRole("textbox", { name: "Link" });
    const url = await link.inputValue();
    await dialog.getByText("The link is copied.").waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(url);
    // Where the browser refuses, one key copies it.
    await page.evaluate(() => {
      navigator.clipboard.writeText = () => Promise.reject(new DOMException("", "NotAllowedError"));
    });
    await dialog.getByRole("button", { name: "Copy", exact: true }).click();
    await dialog.getByText("The browser did not let the page copy the link.").waitFor();
    expect(await link.evaluate((one: HTMLInputElement) => one.selectionEnd === one.value.length)).toBe(true);
    await dialog.getByText("The link is shown only this once.").waitFor();
    const shared = await fetch(url);
    expect(shared.status).toBe(200);
    expect(await shared.text()).toContain("Read the settings");
    const { shares } = (await (await stage.served.kernel.fetch("/api/shares")).json()) as {
      shares: { createdAt: string; expiresAt: string }[];
    };
    expect(
      Math.round((Date.parse(shares[0]?.expiresAt ?? "") - Date.parse(shares[0]?.createdAt ?? "")) / 86_400_000),
    ).toBe(30);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await page.reload();
    expect(stage.problems()).toEqual([]);
  });

  it("exports the redacted text as a file", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Session actions" }).click();
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("menuitem", { name: "Export redacted" }).click(),
    ]);
    const text = Buffer.concat(await (await file.createReadStream()).toArray()).toString();
    expect(file.suggestedFilename()).toMatch(/\.md$/);
    expect(text).toContain("[REDACTED:stripe-access-token");
    expect(text).not.toMatch(SECRET);
  });

  it("goes to another session or project from the heading, by keys", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Switch session or project" }).press("Enter");
    await page.getByRole("menuitem", { name: /Group the balance/ }).waitFor();
    await page.keyboard.type("Group");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: /Group the balance/ }).waitFor();
    await page.getByRole("button", { name: "Switch session or project" }).click();
    await page.getByRole("menuitem", { name: "tidepool" }).click();
    await page.getByRole("heading", { level: 1, name: "tidepool" }).waitFor();
  });

  it("says what goes before anything is deleted", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Delete source log" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete source log" });
    await dialog.getByText(/\.jsonl$/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Delete from archive" }).click();
    await page
      .getByRole("dialog")
      .getByText(/12 messages is deleted/)
      .waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Read the settings" }).waitFor();
  });
});
