/** Settings that change the service: keys that hold at once, prices, backup, plugins that failed; over a restart of the service. */
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { definePlugin } from "sessarc";
import { expect, it, onTestFinished } from "vitest";
import type { SettingsAnswer } from "../../core/kernel/settings.ts";
import type { PriceList } from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, settled, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

describeUi("dashboard: settings of the service", () => {
  const get = useStage();
  const findSetting = async (key: string) => {
    const answer = (await (await get().served.kernel.fetch("/api/settings")).json()) as SettingsAnswer;
    return answer.settings.find((one) => one.key === key)?.value;
  };

  it("changes a key at once, says what the configuration says, and takes it back", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/sources");
    await page.getByRole("switch", { name: /Import all sessions/ }).click();
    await page.locator("#auto-import").getByText("The configuration says: off").waitFor();
    expect(await findSetting("autoImport")).toBe(true);
    await page.getByRole("button", { name: "Undo" }).first().click();
    await expect.poll(() => findSetting("autoImport")).toBe(false);
    await page.locator("#auto-import").getByText("The configuration says").waitFor({ state: "detached" });
    await visit(stage, "/settings/privacy");
    // By keyboard, and back by the row's own button.
    await page.getByRole("radio", { name: "Certain", exact: true }).focus();
    await page.keyboard.press("ArrowRight");
    await page.locator("#block").getByText("The configuration says: Certain").waitFor();
    expect(await findSetting("security.block")).toBe("probable");
    await page.locator("#block").getByRole("button", { name: "Back to the configuration" }).click();
    await expect.poll(() => findSetting("security.block")).toBe("definite");
    await sound(stage, "settings, service");
    expect(stage.problems()).toEqual([]);
  });

  it("says in words what a relay means before it is switched on, and keeps the address typed while the service is away", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/privacy#relay");
    await page.getByRole("button", { name: /^Set an address….*Feedback$/ }).click();
    const field = page.getByRole("textbox", { name: "Address feedback is sent on to" });
    await field.fill("https://relay.example.test/in?token=mine");
    await stage.served.close();
    await page.reload().catch(() => {});
    await page.waitForURL(/^chrome-error:/);
    await stage.start();
    await page.goto(`${stage.url}/settings/privacy`);
    await settled(page);
    expect(await field.inputValue()).toBe("https://relay.example.test/in?token=mine");
    stage.problems();
    await page.getByRole("button", { name: "Send feedback on" }).click();
    const dialog = page.getByRole("dialog", { name: "Send feedback to relay.example.test?" });
    await dialog.getByText("Its preview shows every byte").waitFor();
    expect(await findSetting("feedback.relay")).toBe("");
    await dialog.getByRole("button", { name: "Send feedback on" }).click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByText("https://relay.example.test/in", { exact: true }).waitFor();
    // The token is kept and never shown again.
    expect(await page.content()).not.toContain("token=mine");
    await page.getByRole("button", { name: "Stop sending" }).click();
    await page.getByRole("button", { name: /^Set an address….*Feedback$/ }).waitFor();
    expect(await findSetting("feedback.relay")).toBe("");
  });

  it("sends token counts to a collector once its address is confirmed, says what came of it, and stops", async () => {
    const stage = get();
    const { page } = stage;
    const posts: string[] = [];
    let status = 500;
    const collector = createServer((request, response) => {
      posts.push(request.url ?? "");
      request.resume().on("end", () => response.writeHead(status).end());
    });
    await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void collector.close());
    const { port } = collector.address() as AddressInfo;
    const address = `http://127.0.0.1:${port}/v1/metrics`;
    await visit(stage, "/settings/privacy#otlp");
    const setAddress = page.getByRole("button", { name: /^Set an address….*OpenTelemetry collector$/ });
    await setAddress.click();
    const field = page.getByRole("textbox", { name: "OpenTelemetry collector" });
    await field.fill(`${address}?token=mine`);
    await page.getByRole("button", { name: "Send token counts" }).click();
    const dialog = page.getByRole("dialog", { name: `Send token counts to 127.0.0.1:${port}?` });
    await dialog.getByText("no content is sent").waitFor();
    expect([posts, await findSetting("metrics.otlp")]).toEqual([[], ""]);
    await dialog.getByRole("button", { name: "Send token counts" }).click();
    await page.locator("#otlp").getByText("The last attempt failed").waitFor();
    await page.locator("#otlp").getByText(address, { exact: true }).waitFor();
    expect(posts[0]).toBe("/v1/metrics?token=mine");
    expect(await page.content()).not.toContain("token=mine");
    await sound(stage, "settings, collector");
    await visit(stage, "/settings/privacy");
    await page.locator("#otlp").getByText(address).waitFor();
    await visit(stage, "/settings/privacy");
    await page.getByRole("button", { name: "Stop sending counts" }).click();
    await setAddress.click();
    expect(await findSetting("metrics.otlp")).toBe("");
    status = 200;
    await field.fill(address);
    await page.getByRole("button", { name: "Send token counts" }).click();
    await dialog.getByRole("button", { name: "Send token counts" }).click();
    await page.locator("#otlp").getByText("Last sent").waitFor();
    await page.getByRole("button", { name: "Stop sending counts" }).click();
    await setAddress.waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("loads a price table from a file, shows which one is in force, and goes back", async () => {
    const stage = get();
    const { page } = stage;
    const table = [
      {
        id: "test",
        models: [{ id: "one", match: { equals: "claude-haiku-4-5" }, prices: { input_mtok: 2, output_mtok: 7 } }],
      },
    ];
    const file = (text: string) => ({ name: "new.json", mimeType: "application/json", buffer: Buffer.from(text) });
    await visit(stage, "/settings/prices");
    const row = page.locator("#price-table");
    await row.getByText("comes with sessarc").waitFor();
    await row.getByText("1,694").waitFor();
    const picker = row.locator("input[type=file]");
    await Promise.all([
      page.getByText("new.json is not a price table. Choose the data.json of genai-prices.").waitFor(),
      picker.setInputFiles(file("{}")),
    ]);
    const dialog = page.getByRole("dialog", { name: "Use new.json as the price table?" });
    await picker.setInputFiles(file(JSON.stringify(table)));
    expect(await dialog.getByLabel("Prices of").inputValue()).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    await dialog.getByLabel("Prices of").fill("2025-01-02");
    await dialog.getByRole("button", { name: "Use this table" }).click();
    await row.getByText("loaded from a file").waitFor();
    await row.getByText("2025-01-02").waitFor();
    await row.getByText("The table that comes with sessarc is newer").waitFor();
    const prices = async () => (await (await stage.served.kernel.fetch("/api/prices")).json()) as PriceList;
    expect(await prices()).toMatchObject({ pricedAt: "2025-01-02", source: "new.json", tableModels: 1 });
    await sound(stage, "settings, price table");
    await page.getByRole("button", { name: "Undo" }).first().click();
    await row.getByText("comes with sessarc").waitFor();
    await picker.setInputFiles(file(JSON.stringify(table)));
    await dialog.getByRole("button", { name: "Use this table" }).click();
    await row.getByRole("button", { name: "Back to the built-in table" }).click();
    const removal = page.getByRole("dialog", { name: "Back to the built-in table" });
    await removal.getByText("new.json is removed").waitFor();
    await removal.getByRole("button", { name: "Back to the built-in table" }).click();
    await row.getByText("comes with sessarc").waitFor();
    expect((await prices()).shipped.inForce).toBe(true);
    expect(stage.problems()).toEqual([]);
  });

  it("fetches the published table after a consent with its address, once a week if wanted, and takes the consent back", async () => {
    const stage = get();
    const { page } = stage;
    const { priceTable } = stage.served.kernel.config;
    const table = [
      { id: "test", models: [{ id: "one", match: { equals: "one" }, prices: { input_mtok: 2, output_mtok: 7 } }] },
    ];
    let asked = 0;
    const site = createServer((_, response) => {
      asked++;
      response.setHeader("etag", '"one"');
      response.end(JSON.stringify(table));
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void site.close());
    const before = priceTable.address;
    priceTable.address = `http://127.0.0.1:${(site.address() as AddressInfo).port}/data.json`;
    onTestFinished(() => {
      priceTable.address = before;
    });
    await visit(stage, "/settings/prices");
    await page.reload();
    await settled(page);
    const row = page.locator("#price-table");
    await row.getByRole("button", { name: "Fetch the newest table" }).click();
    const dialog = page.getByRole("dialog", { name: /^Fetch the price table from 127\.0\.0\.1/ });
    await dialog.getByText(priceTable.address).waitFor();
    await dialog.getByText("Nothing about you or your sessions is sent").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(asked).toBe(0);
    await row.getByRole("button", { name: "Fetch the newest table" }).click();
    await dialog.getByRole("button", { name: "Agree and fetch" }).click();
    await row.getByText("fetched", { exact: true }).waitFor();
    await row.getByText("Checked last").waitFor();
    expect(asked).toBe(1);
    await row.getByRole("switch", { name: /Fetch once a week/ }).click();
    await row.getByText("Next fetch").waitFor();
    await sound(stage, "settings, fetched price table");
    await row.getByRole("switch", { name: /Fetch once a week/ }).click();
    await row.getByText("Next fetch").waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Withdraw the consent" }).click();
    await row.getByText("You agreed to requests").waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Back to the built-in table" }).click();
    await page
      .getByRole("dialog", { name: "Back to the built-in table" })
      .getByRole("button", { name: "Back to the built-in table" })
      .click();
    await row.getByText("comes with sessarc").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("sets a price, counts with it at once, keeps what is typed over a reload and a dead service, and undoes it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/prices");
    const model = (await page.locator("#unpriced li").first().innerText()).trim();
    await page.getByRole("button", { name: `Change the price of ${model}` }).click();
    const dialog = page.getByRole("dialog", { name: "Price of a model" });
    await dialog.getByRole("textbox", { name: "Input" }).fill("2,5");
    await page.reload();
    await settled(page);
    expect(await dialog.getByRole("textbox", { name: "Input" }).inputValue()).toBe("2,5");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Type a number of dollars").waitFor();
    await dialog.getByRole("textbox", { name: "Output" }).fill("10");
    await stage.served.close();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").filter({ hasText: "does not answer" }).waitFor();
    await stage.start();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    await page.locator("#unpriced").getByText(model).waitFor({ state: "detached" });
    const row = page.getByRole("row", { name: new RegExp(`^${model}`) });
    expect(await row.innerText()).toContain("2.50");
    const usage = async () =>
      (await (await stage.served.kernel.fetch("/api/usage?by=model")).json()) as {
        unpriced: string[];
        overridden: string[];
      };
    expect((await usage()).overridden).toEqual([model]);
    stage.problems();
    if (LONG) await sound(stage, "settings, prices with one's own");
    await row.getByRole("button", { name: `Take back the price of ${model}` }).click();
    await page.locator("#unpriced").getByText(model).waitFor();
    expect((await usage()).unpriced).toContain(model);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await row.waitFor();
    expect((await usage()).overridden).toEqual([model]);
  });

  it("downloads a backup that the browser never holds in the page", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/data#backup");
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: /Download a backup/ }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^sessarc-[\d-]+\.tar$/);
    const file = join(await makeTempDir(), "backup.tar");
    await download.saveAs(file);
    const bytes = await readFile(file);
    expect(bytes.subarray(257, 262).toString()).toBe("ustar");
    expect(bytes.includes("catalog.db")).toBe(true);
  });

  it("says how much of the catalogue is empty, gives it back, and says what came of it", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/settings/data");
    const row = page.locator("#vacuum");
    await row.getByText(/ are empty$/).waitFor();
    if (LONG) expect(await violations(stage)).toEqual([]);
    await row.getByRole("button", { name: "Shrink the catalogue" }).click();
    await row.getByText(/^The catalogue has .*, before it had /).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: plugins that did not start", () => {
  const broken = definePlugin({
    name: "weather",
    setup() {
      throw new Error("No wind today");
    },
  });
  const get = useStage({ plugins: [broken()], onBroken: "leave-out" });

  it("are listed with the reason, and everything else runs", async () => {
    const stage = get();
    await visit(stage, "/settings/plugins");
    const row = stage.page.getByRole("list", { name: "Left out" }).getByRole("listitem");
    expect(await row.innerText()).toMatch(/weather\s*PLUGIN_FAILED[\s\S]*No wind today/);
    await sound(stage, "settings, plugins left out");
    expect(stage.problems()).toEqual([]);
  });
});
