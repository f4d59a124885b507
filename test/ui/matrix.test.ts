/** Servers and skills by assistants: what each has, what differs, and one of them for another or for all. */
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { violations } from "./axe.ts";
import { describeUi, load, useStage, visit } from "./browser.ts";
import { sound } from "./sound.ts";

describeUi("dashboard: servers by assistants", () => {
  const get = useStage({ fill: (home) => writeDemo({ home, setup: true }) });

  it("shows what differs side by side, gives one server to every assistant, and takes it from one", async () => {
    const stage = get();
    const { page } = stage;
    const readText = (path: string) => readFile(join(stage.home, path), "utf8");
    const [codex, cursor] = [await readText(".codex/config.toml"), await readText(".cursor/mcp.json")];
    await visit(stage, "/tools/servers");
    const cell = (name: string) => page.getByRole("button", { name, exact: true });
    const sheet = page.getByRole("dialog");
    await cell("tides, Claude Code: In its own file").waitFor();
    await cell("tides, Codex CLI: In its own file").waitFor();
    await cell("harbour, Codex CLI: Absent").waitFor();

    await cell("tides, Cursor: Differs").click();
    const other = sheet.getByRole("cell", { name: "--stations data/stations.json", exact: true });
    await other.waitFor();
    await sheet.getByRole("cell", { name: "--stations data/stations.json --units feet", exact: true }).waitFor();
    expect(await sheet.getByRole("columnheader").allInnerTexts()).toEqual(["Field", "Claude Code", "Cursor"]);
    expect(await other.evaluate((one) => Number.parseFloat(getComputedStyle(one).paddingInlineStart))).toBeGreaterThan(
      0,
    );
    await sheet.getByText(/"url": ".*client=cursor"/).waitFor();
    // What the first choice does to both files is said before its lines; the other one leaves Claude Code's alone.
    const warning = sheet.getByText(
      /the entries of Claude Code and Cursor are replaced.* Cursor's settings are dropped/,
    );
    await warning.waitFor();
    expect(
      await sheet
        .getByRole("radio")
        .evaluateAll((all) => all.map((one) => one.ariaLabel ?? one.parentElement?.innerText)),
    ).toEqual(["Use Claude Code's", "Use Cursor's"]);
    await sheet.getByRole("radio", { name: "Use Cursor's" }).check();
    await warning.waitFor({ state: "detached" });
    expect(await violations(stage)).toEqual([]);
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });

    // What is added to one and changes the file of another is named.
    await cell("harbour, Codex CLI: Absent").click();
    await sheet.getByText(/harbour is in the file of Claude Code\. To give it to Codex CLI too, it moves/).waitFor();
    await sheet.getByRole("button", { name: "Move to the hub and add" }).waitFor();
    // What comes with the hub is named.
    const besides = sheet.getByText(/^This connects .*to the hub, which also gives access to: Session archive\.$/);
    expect(await besides.innerText()).toContain("Claude Code, Codex CLI");
    await page.keyboard.press("Escape");
    await sheet.waitFor({ state: "detached" });

    await page.getByRole("button", { name: "Enable for every assistant: harbour" }).click();
    await sheet.getByText(/url = ".*client=codex"/).waitFor();
    await sheet
      .getByText(/To give it to every assistant, it moves into the hub: the entry of Claude Code is/)
      .waitFor();
    const share = sheet.getByRole("button", { name: "Move to the hub and add" });
    // The actions are at the foot of the drawer.
    const foot = await share.boundingBox();
    expect((foot?.y ?? 0) + (foot?.height ?? 0)).toBeGreaterThan((page.viewportSize()?.height ?? 0) - 24);
    await share.click();
    await sheet.waitFor({ state: "detached" });
    for (const tool of ["Claude Code", "Codex CLI", "Cursor"])
      await cell(`harbour, ${tool}: Through the hub`).waitFor();
    await cell("tides, Codex CLI: In its own file").waitFor();
    expect(await readText(".codex/config.toml")).not.toBe(codex);

    // From one, by the keyboard.
    await cell("harbour, Cursor: Through the hub").focus();
    await page.keyboard.press("Enter");
    await sheet.getByRole("button", { name: "Remove from this assistant" }).click();
    await cell("harbour, Cursor: Absent").click();
    await sheet.getByRole("button", { name: "Add to this assistant" }).waitFor();
    expect(await besides.count()).toBe(0);
    await sheet.getByRole("button", { name: "Add to this assistant" }).click();
    await cell("harbour, Cursor: Through the hub").waitFor();

    // A variant becomes the hub's; its file leads there.
    await cell("tides, Cursor: Differs").click();
    await sheet.getByRole("radio", { name: "Use Cursor's" }).check();
    await sheet.getByText("Each file is backed up").waitFor();
    await sheet.getByRole("button", { name: "Apply" }).click();
    await cell("tides, Cursor: Through the hub").waitFor();
    expect(await readText(".cursor/mcp.json")).not.toContain("feet");
    await page.getByRole("button", { name: "Undo" }).last().click();
    await expect.poll(() => readText(".cursor/mcp.json")).toContain("feet");
    expect(await readText(".cursor/mcp.json")).not.toBe(cursor);
    expect(stage.problems()).toEqual([]);
  });

  it("connects an assistant that has no configuration file, on a phone, and removes the file again", async () => {
    const stage = get();
    const { page } = stage;
    const file = join(stage.home, ".gemini/settings.json");
    await rm(file, { force: true });
    await page.setViewportSize({ width: 390, height: 844 });
    await load(stage, "/tools/servers");
    const gemini = (state: string) => page.getByRole("button", { name: `harbour, Gemini CLI: ${state}` });
    const sheet = page.getByRole("dialog");
    await gemini("Absent").click();
    await sheet.getByText("does not exist yet; Undo removes it").waitFor();
    await sheet.getByText(/"httpUrl": ".*client=gemini-cli"/).waitFor();
    expect(await violations(stage)).toEqual([]);
    await sheet.getByRole("button", { name: "Add to this assistant" }).click();
    await gemini("Through the hub").waitFor();
    expect(JSON.parse(await readFile(file, "utf8"))).toHaveProperty(["mcpServers", "sessarc", "httpUrl"]);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await gemini("Absent").waitFor();
    await expect(readFile(file)).rejects.toThrow();
    expect(stage.problems()).toEqual([]);
  });

  it("is usable on a phone, and names the address where it cannot write a file", async () => {
    const stage = get();
    const { page } = stage;
    await writeFile(join(stage.home, ".gemini/settings.json"), "{ mcpServers");
    const project = join(stage.home, "code/tidepool/.gemini");
    await mkdir(project, { recursive: true });
    await writeFile(join(project, "settings.json"), JSON.stringify({ mcpServers: {} }));
    await page.setViewportSize({ width: 390, height: 844 });
    await load(stage, "/tools/servers");
    const gemini = page.getByRole("button", { name: "harbour, Gemini CLI: Absent" });
    await gemini.click();
    await page
      .getByRole("dialog")
      .getByText(/Add this address to their configuration: Gemini CLI/)
      .waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    // The names of the servers stay in sight while the rest scrolls.
    const box = await page.getByRole("rowheader", { name: /^harbour/ }).boundingBox();
    expect(box?.x).toBeGreaterThanOrEqual(0);
    // One line on each row, so that three assistants are in sight.
    const enable = page.getByRole("button", { name: /^Enable for all/ }).first();
    expect((await enable.boundingBox())?.height).toBeLessThanOrEqual(44);
    const heads = await page
      .getByRole("columnheader")
      .evaluateAll((all) => all.filter((one) => one.getBoundingClientRect().right <= innerWidth).length);
    expect(heads).toBeGreaterThanOrEqual(4);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await sound(stage, "assistants, phone");
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: skills by assistants", () => {
  const get = useStage({ fill: (home) => writeDemo({ home, setup: true }) });

  it("brings a skill of one assistant into another with one click, and shows two versions side by side", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/tools/skills");
    const row = page.getByRole("row", { name: /^Ledger.Restore/i });
    await row.getByText("Gemini CLI: has it in its own folder").waitFor();
    expect(await page.getByRole("columnheader").count()).toBeLessThan(12);
    await row.getByRole("button", { name: "Ledger Restore, Claude Code: absent. Click to import and link" }).click();
    await row.getByRole("button", { name: "Claude Code: linked. Click to unlink" }).waitFor();
    // Another version of it in a third assistant's folder.
    const other = join(stage.home, ".cursor/skills/ledger-restore");
    await mkdir(other, { recursive: true });
    await writeFile(join(other, "SKILL.md"), "---\nname: ledger-restore\ndescription: Another one.\n---\n\nOther.\n");
    await page.setViewportSize({ width: 390, height: 844 });
    await load(stage, "/tools/skills");
    const differs = row.getByRole("button", { name: /Cursor: has another version/ });
    const sheet = page.getByRole("dialog", { name: /Cursor: what differs/ });
    await differs.click();
    await sheet.getByRole("group", { name: "Changes of SKILL.md" }).getByText("+description: Another one.").waitFor();
    await sheet.getByText(/A copy of the stored skill/).waitFor({ state: "detached" });
    await sound(stage, "skills, comparison on a phone");
    await sheet.getByRole("button", { name: "Keep both" }).click();
    await sheet.waitFor({ state: "detached" });

    // The stored version in the place of the other one, and back, byte for byte.
    const text = () => readFile(join(other, "SKILL.md"), "utf8");
    const before = await text();
    await differs.click();
    await sheet.getByRole("radio", { name: "Use the stored version" }).check();
    await sheet.getByRole("button", { name: "Apply" }).click();
    await row.getByRole("button", { name: "Cursor: linked. Click to unlink" }).waitFor();
    expect(await text()).not.toBe(before);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await differs.waitFor();
    expect(await text()).toBe(before);

    // The other way: the store takes it, and every assistant that is linked has it.
    await differs.click();
    await sheet.getByRole("button", { name: "Apply" }).click();
    await row.getByText("Cursor: has it in its own folder").waitFor();
    expect(await readFile(join(stage.home, ".claude/skills/ledger-restore/SKILL.md"), "utf8")).toBe(before);
    await page.getByRole("button", { name: "Undo" }).last().click();
    await differs.waitFor();
    await page.setViewportSize({ width: 390, height: 844 });
    await visit(stage, "/tools/skills");
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
    await sound(stage, "skills, phone");
    expect(stage.problems()).toEqual([]);
  });
});
