/** The hub: a service with a secret that is never shown again, a tool called by hand, and configuration files taken over and given back. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { listsService } from "../mcp-hub/_lists.ts";
import { createOAuthService } from "../mcp-hub/_oauth.ts";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, narrow, type Stage, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

const CONFIG = `${JSON.stringify({ mcpServers: { notes: { command: "notes-server", args: ["--fast"], env: { NOTES_TOKEN: "abcdefghijklmnop9876" } } }, theme: "dark" }, null, 2)}\n`;
const GEMINI = JSON.stringify({ mcpServers: { board: { httpUrl: "https://theirs.example.com/mcp" } } });
const CLAUDE = JSON.stringify({
  mcpServers: { sessarc: { type: "http", url: "http://127.0.0.1:1/mcp?client=claude-code" } },
});
const toConfig = (stage: Stage) => join(stage.home, ".cursor/mcp.json");

const action = (page: Page, name: string) => page.getByRole("group", { name: `Action: ${name}`, exact: true });
const choose = (page: Page, name: string, option: string) =>
  action(page, name).getByRole("radio", { name: option }).check();

/** Skips all entries of the takeover but those of a name. */
async function onlyTake(page: Page, name: string): Promise<void> {
  const all = page.getByRole("group", { name: /^Action: / });
  await all.first().waitFor();
  for (const one of await all.all())
    if ((await one.getAttribute("aria-label")) !== `Action: ${name}`)
      await one.getByRole("radio", { name: "Skip" }).check();
}

describeUi("dashboard: hub", () => {
  const get = useStage({
    fill: async (home) => {
      await writeDemo({ home });
      await mkdir(join(home, ".cursor"), { recursive: true });
      await writeFile(join(home, ".cursor/mcp.json"), CONFIG);
      await mkdir(join(home, ".gemini"), { recursive: true });
      await writeFile(join(home, ".gemini/settings.json"), GEMINI);
      await writeFile(join(home, ".claude.json"), CLAUDE);
    },
  });

  it("adds a service whose secret is never shown again, and keeps it when other fields change", async () => {
    const stage = get();
    const { page } = stage;
    const service = async () => {
      const { services } = await (await stage.served.kernel.fetch("/api/mcp/services")).json();
      return services.find((one: { id: string }) => one.id === "issues");
    };
    await visit(stage, "/tools/servers");
    await page.getByRole("button", { name: "Add server" }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByLabel("Name", { exact: true }).fill("Issues");
    await sheet.getByLabel("Transport").click();
    await page.getByRole("option", { name: "HTTP", exact: true }).click();
    await sheet.getByLabel("Address").fill("https://issues.example.com/mcp");
    await sheet.getByLabel("Credential").click();
    await page.getByRole("option", { name: "Bearer token" }).click();
    await sheet.getByLabel("Its value").fill("tok_abcdefghijklmnop4321");
    expect(await violations(stage)).toEqual([]);
    // What was typed outlives the service.
    await stage.served.close();
    await sheet.getByRole("button", { name: "Save" }).click();
    await sheet
      .getByRole("alert")
      .getByText(/does not answer/)
      .waitFor();
    await stage.start();
    await sheet.getByRole("button", { name: "Save" }).click();
    await sheet.waitFor({ state: "detached" });
    stage.problems();

    await page.getByRole("button", { name: "Change Issues" }).click();
    await sheet.getByText(/4321 is set\. Type to replace it\./).waitFor();
    expect(await sheet.getByLabel("Its value").inputValue()).toBe("");
    await sheet.getByLabel(/^Never allowed/).fill("delete_*");
    await sheet.getByRole("button", { name: "Save" }).click();
    await expect.poll(service).toMatchObject({ policy: { deny: ["delete_*"] }, credential: { set: true } });
    expect((await service()).credential.hint).toContain("4321");
    expect(await page.content()).not.toContain("tok_abcdefghijklmnop");
    expect(stage.problems()).toEqual([]);
  });

  it("names malformed items with their reasons, and held tools with what differs", async () => {
    const stage = get();
    const { page } = stage;
    const tool = { name: "send", description: "Sends", inputSchema: { type: "object" } };
    const odd = { name: "array-schema", inputSchema: [] };
    const { service, set } = await listsService(stage.home, "mail", { lists: { tools: [tool, odd] } });
    const { services, hub } = stage.served.kernel.inject("mcp");
    await services.put({ id: "mail", ...service });
    const list = () => stage.served.kernel.fetch("/api/mcp/tools?service=mail");
    await list();
    await set({ lists: { tools: [{ ...tool, description: "Sends to all" }, odd] } });
    await hub.replaced("mail");
    await list();
    await visit(stage, "/tools/servers");
    await page.reload();
    await page.getByText("1 malformed item").click();
    await page.getByText(/array-schema\s+left out: inputSchema/).waitFor();
    await page.getByText("1 tool changed since it was accepted").click();
    await page.getByText('"Sends to all"').waitFor();
    expect(await violations(stage)).toEqual([]);
    await services.remove("mail");
    expect(stage.problems()).toEqual([]);
  });

  it("asks a tool's arguments as its schema says, calls it by keyboard, and shows the call in log and figures", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/advanced?view=try");
    await narrow(page.getByPlaceholder("Find a tool"), "search", page.getByRole("option"), 2);
    await page.getByRole("option", { name: /search_sessions/ }).click();
    await page.getByLabel("query", { exact: true }).fill("tide");
    await page.reload();
    expect(await page.getByLabel("query", { exact: true }).inputValue()).toBe("tide");
    await page.getByLabel("query", { exact: true }).press("Control+Enter");
    await page
      .getByRole("status")
      .getByText(/sessions/)
      .first()
      .waitFor();
    await page.getByRole("radio", { name: "Hub calls" }).click();
    await page.getByRole("rowheader", { name: /search_sessions/ }).waitFor();
    await page.getByRole("radio", { name: "Hub log" }).click();
    await page
      .getByRole("list", { name: "Log" })
      .getByRole("button", { name: /tools\/call/ })
      .first()
      .click();
    await page
      .getByRole("dialog")
      .getByText(/"query": "tide"/)
      .waitFor();
    await page.keyboard.press("Escape");
    expect(stage.problems()).toEqual([]);
  });

  it("takes a server in conflict over by another name, and leads an entry of another port here", async () => {
    const stage = get();
    const { page } = stage;
    const body = JSON.stringify({ id: "board", url: "https://ours.example.com/mcp" });
    await stage.served.kernel.fetch("/api/mcp/services", { method: "POST", body });
    await visit(stage, "/tools/advanced?view=takeover");
    await onlyTake(page, "board");
    // Wherever one chooses, what it leads to is one press away.
    await page.evaluate(() => scrollTo(0, 0));
    const act = await page.getByRole("button", { name: "Show what will be written" }).boundingBox();
    expect((act?.y ?? 0) + (act?.height ?? 0)).toBeLessThanOrEqual(900);
    await page.getByText("Skipped until you choose: the hub has another server named board.").waitFor();
    expect(await action(page, "board").locator("label").allInnerTexts()).toContain("Keep the hub's");
    await choose(page, "board", "Each under its own name");
    await page.getByText("Will be added to the hub as board-2, beside the other one.").waitFor();
    const name = page.getByLabel("New name of Gemini CLI's board");
    expect(await name.inputValue()).toBe("board-2");
    await name.fill("their-board");
    await page.getByLabel("Points to another port: point it here").click();
    await page.getByRole("button", { name: "Show what will be written" }).click();
    const plan = page.getByRole("region", { name: "Show what will be written" });
    expect(await violations(stage)).toEqual([]);
    await plan.getByRole("button", { name: "Apply" }).click();
    await page.getByText("1 server taken over").waitFor();
    const { services } = await (await stage.served.kernel.fetch("/api/mcp/services")).json();
    expect(services.find((one: { id: string }) => one.id === "their-board").url).toBe("https://theirs.example.com/mcp");
    const port = new URL(stage.url).port;
    for (const file of [".gemini/settings.json", ".claude.json"])
      expect(await readFile(join(stage.home, file), "utf8")).toContain(`:${port}/mcp?client=`);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => readFile(join(stage.home, ".claude.json"), "utf8")).toBe(CLAUDE);
    expect(stage.problems()).toEqual([]);
  });

  it("signs in to a service that asks who is there: there and back in the browser", async () => {
    const stage = get();
    const { page } = stage;
    const { url } = await createOAuthService();
    const send = (path: string, body: object) =>
      stage.served.kernel.fetch(`/api/mcp/${path}`, { method: "POST", body: JSON.stringify(body) });
    await send("services", { id: "guarded", name: "Guarded", url });
    expect((await send("call", { name: "guarded__whoami" })).status).toBe(502);
    await visit(stage, "/tools/servers");
    await page.getByRole("button", { name: "Sign in: Guarded" }).click();
    await page.getByText("Signed in to guarded.").waitFor();
    expect((await send("call", { name: "guarded__whoami" })).status).toBe(200);
    await visit(stage, "/tools/servers");
    await page
      .getByRole("row", { name: /Guarded/ })
      .getByText("running")
      .waitFor();
    // There alone does the browser go.
    expect(stage.problems()).toEqual([expect.stringMatching(/^foreign: http:\/\/127\.0\.0\.1:\d+\/authorize\?/)]);
  });

  it("shows every line before it takes a configuration over, and gives the file back byte for byte", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/advanced?view=takeover");
    const restored = page.getByRole("region", { name: "Backups" }).getByText("restored");
    const before = await restored.count();
    // What the hub lacks is imported unless it is skipped.
    await page.getByText("Will be added to the hub, which has no server of this name.").first().waitFor();
    expect(await action(page, "notes").getByRole("radio", { name: "Take over" }).isChecked()).toBe(true);
    await page.getByText(/^\d+ servers? will be taken over\./).waitFor();
    await onlyTake(page, "notes");
    await page.getByRole("button", { name: "Show what will be written" }).click();
    const plan = page.getByRole("region", { name: "Show what will be written" });
    await plan.getByText("mcpServers").or(plan.getByText("sessarc")).first().waitFor();
    expect(await page.content()).not.toContain("abcdefghijklmnop");
    expect(await readFile(toConfig(stage), "utf8")).toBe(CONFIG);
    await plan.getByRole("button", { name: "Apply" }).click();
    await page.getByText("1 server taken over").waitFor();
    const taken = await readFile(toConfig(stage), "utf8");
    expect(taken).toContain("/mcp");
    expect(taken).not.toContain("NOTES_TOKEN");
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => readFile(toConfig(stage), "utf8")).toBe(CONFIG);
    await expect.poll(() => restored.count()).toBe(before + 1);

    // Its originals are thrown away where they are not wanted back.
    await page.getByRole("button", { name: /^Throw away: .*cursor/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Throw away" }).click();
    await expect.poll(() => restored.count()).toBe(before);
    expect(await readFile(toConfig(stage), "utf8")).toBe(CONFIG);

    for (const tab of LONG ? ["services", "takeover", "calls", "log"] : ["takeover", "log"]) {
      await visit(stage, `/mcp-hub?tab=${tab}`);
      await sound(stage, tab);
    }
    expect(stage.problems()).toEqual([]);
  });

  it("asks once for a server of one name, and equal entries of several assistants are one choice", async () => {
    const stage = get();
    const { page } = stage;
    await mkdir(join(stage.home, ".codex"), { recursive: true });
    await writeFile(join(stage.home, ".gemini/settings.json"), `{"mcpServers":{"gauge":{"command":"gauge-a"}}}`);
    await writeFile(join(stage.home, ".codex/config.toml"), `[mcp_servers.gauge]\ncommand = "gauge-a"\n`);
    await writeFile(join(stage.home, ".cursor/mcp.json"), `{"mcpServers":{"gauge":{"command":"gauge-b"}}}`);
    await visit(stage, "/tools/advanced?view=takeover");
    await page.getByRole("button", { name: "Scan again" }).click();
    await page.getByText(/several files have a server named gauge, with different settings/).waitFor();
    await onlyTake(page, "gauge");
    expect(await action(page, "gauge").locator("label").allInnerTexts()).toEqual([
      "Use Codex CLI and Gemini CLI's",
      "Use Cursor's",
      "Each under its own name",
      "Skip",
    ]);
    await choose(page, "gauge", "Use Codex CLI and Gemini CLI's");
    await page
      .getByText(
        "Will be added to the hub as gauge, with Codex CLI and Gemini CLI's settings. Cursor: the entry stays in its own file.",
      )
      .waitFor();
    await page.getByText(/^1 server will be taken over\./).waitFor();
    await page.getByRole("button", { name: "Show what will be written" }).click();
    const plan = page.getByRole("region", { name: "Show what will be written" });
    await plan.getByText("1 server will be in the hub").waitFor();
    const written = await plan.getByRole("heading").allInnerTexts();
    expect(written.map((path) => path.replace(stage.home, "")).sort()).toEqual([
      "/.codex/config.toml",
      "/.gemini/settings.json",
    ]);

    // Where no file says otherwise, there is nothing to choose: one line for both assistants.
    await writeFile(join(stage.home, ".cursor/mcp.json"), "{}");
    await page.getByRole("button", { name: "Scan again" }).click();
    await choose(page, "gauge", "Take over");
    const block = page.getByRole("listitem").filter({ has: action(page, "gauge") });
    expect(await block.innerText()).toMatch(/Codex CLI\s+Gemini CLI/);
    expect(stage.problems()).toEqual([]);
  });

  it("takes three entries of one name over, each under a name of its own, and shows which is which afterwards", async () => {
    const stage = get();
    const { page } = stage;
    await mkdir(join(stage.home, ".codex"), { recursive: true });
    await writeFile(join(stage.home, ".gemini/settings.json"), `{"mcpServers":{"chart":{"command":"chart-a"}}}`);
    await writeFile(join(stage.home, ".codex/config.toml"), `[mcp_servers.chart]\ncommand = "chart-b"\n`);
    await writeFile(join(stage.home, ".cursor/mcp.json"), `{"mcpServers":{"chart":{"command":"chart-c"}}}`);
    await visit(stage, "/tools/advanced?view=takeover");
    await page.getByRole("button", { name: "Scan again" }).click();
    await action(page, "chart").waitFor();
    await onlyTake(page, "chart");
    // A choice names its assistant, and the hub's can be kept only where the hub has one.
    const choices = await action(page, "chart").locator("label").allInnerTexts();
    expect(choices.slice(-2)).toEqual(["Each under its own name", "Skip"]);
    expect(choices.slice(0, -2).sort()).toEqual(["Use Codex CLI's", "Use Cursor's", "Use Gemini CLI's"]);
    await choose(page, "chart", "Each under its own name");
    const names = page.getByLabel(/^New name of .*'s chart$/);
    expect(await names.evaluateAll((all) => all.map((one) => (one as HTMLInputElement).value))).toEqual([
      "chart-2",
      "chart-3",
    ]);
    // What the service refuses is said in words of the page.
    await names.nth(1).fill("chart-2");
    await page.getByRole("button", { name: "Show what will be written" }).click();
    const refusal = page.getByText(/gets the name chart-2/);
    await refusal.first().waitFor();
    expect(await refusal.first().innerText()).not.toMatch(/rename:|takeSource/);
    await names.nth(1).fill("chart-3");
    await page.getByRole("button", { name: "Show what will be written" }).click();
    const plan = page.getByRole("region", { name: "Show what will be written" });
    await plan.getByRole("button", { name: "Apply" }).waitFor();
    await page.getByRole("radio", { name: "Stay as they are" }).check();
    await page.getByRole("button", { name: "Show what will be written" }).click();
    await plan.getByRole("button", { name: "Apply" }).click();
    await page.getByText("3 servers taken over").waitFor();
    await page.getByText("In the hub as chart-2").waitFor();
    await page.getByText("In the hub as chart-3").waitFor();
    expect(stage.problems().filter((one) => !one.includes("422"))).toEqual([]);
  });
});
