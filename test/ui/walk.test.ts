/** One complete walk over real files: a log imported, its secret found and hidden, a share made and ended, a skill linked, a configuration taken over and given back, a session replayed to its commit, a line led back to what was read for it. */
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { LONG } from "../rounds.ts";
import { describeUi, load, projectId, sessionId, useStage } from "./browser.ts";

const CONFIG = `${JSON.stringify({ mcpServers: { notes: { command: "notes-server" } } }, null, 2)}\n`;

describeUi("dashboard: the whole walk", () => {
  const get = useStage({
    imported: false,
    fill: async (home) => {
      await writeDemo({ home });
      await mkdir(join(home, ".claude/skills/release"), { recursive: true });
      await writeFile(
        join(home, ".claude/skills/release/SKILL.md"),
        "---\nname: release\ndescription: Publishes\n---\n\nTag it.\n",
      );
      await mkdir(join(home, ".cursor"), { recursive: true });
      await writeFile(join(home, ".cursor/mcp.json"), CONFIG);
    },
  });

  // Each of its stations has a test of its own.
  it.runIf(LONG)("goes from an empty archive to the reason of a line, by what is on the screens", async () => {
    const stage = get();
    const { page, home } = stage;
    const jump = async (keys: string) => {
      for (const key of keys.split(" ")) await page.keyboard.press(key);
    };
    const dialog = page.getByRole("dialog");

    await load(stage, "/");
    await page.getByRole("button", { name: /^Import \d+ sessions$/ }).click();
    await page.waitForURL(/step=done/);

    await load(stage, `/sessions/${await sessionId(stage, "Read the settings")}?view=security`);
    await page.getByRole("heading", { name: /1 secret in/ }).waitFor();
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Share" }).click();
    await dialog.getByText("1 value is replaced by a placeholder").waitFor();
    await dialog.getByRole("button", { name: "Create and copy link" }).click();
    const url = await dialog.getByRole("textbox", { name: "Link" }).inputValue();
    const shared = await fetch(url);
    expect(shared.status).toBe(200);
    expect(await shared.text()).not.toMatch(/sk_live_\w{8,}/);
    await page.keyboard.press("Escape");
    await jump("g c");
    await page.getByRole("button", { name: /^Revoke/ }).click();
    await page.getByRole("listitem").getByText("revoked").waitFor();
    expect((await fetch(url)).status).toBe(404);

    await jump("g k");
    await page.getByRole("button", { name: "Add skills" }).first().click();
    await page.getByRole("button", { name: "Import release" }).click();
    await jump("g k");
    await page.getByRole("button", { name: "Codex CLI: not linked. Click to link" }).click();
    await page.getByRole("button", { name: "Codex CLI: linked. Click to unlink" }).waitFor();
    expect(await readFile(join(await readlink(join(home, ".agents/skills/release")), "SKILL.md"), "utf8")).toContain(
      "Tag it.",
    );

    await jump("g m");
    await page.getByRole("button", { name: "Advanced" }).click();
    await page.getByRole("radio", { name: "Take over and backups" }).check();
    await page.getByRole("button", { name: "Show what will be written" }).click();
    await page.getByRole("button", { name: "Apply" }).click();
    const backups = page.getByRole("region", { name: "Backups" });
    await backups.getByText("taken over").waitFor();
    expect(await readFile(join(home, ".cursor/mcp.json"), "utf8")).not.toContain("notes-server");
    await backups.getByRole("button", { name: "Restore" }).click();
    await dialog.getByRole("button", { name: "Restore" }).click();
    await backups.getByText("restored").waitFor();
    expect(await readFile(join(home, ".cursor/mcp.json"), "utf8")).toBe(CONFIG);

    await jump("g e");
    await page
      .getByRole("link", { name: /^Split the server into a router/ })
      .first()
      .click();
    await page.getByRole("button", { name: "Session actions" }).click();
    await page.getByRole("menuitem", { name: "Replay" }).click();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("button", { name: "Do this step" }).waitFor();
    await page.getByRole("listitem").filter({ hasText: "to do" }).last().getByRole("button").click();
    await page.getByRole("button", { name: "All edits up to here" }).click();
    await page.getByRole("button", { name: "Run command" }).waitFor();
    await page.getByRole("button", { name: "Skip", exact: true }).click();
    await page.getByText(/^All \d+ files are as in the commit/).waitFor();

    // A line, and two steps on what was read for it.
    await load(stage, `/projects/${await projectId(stage, "tidepool")}?days=all`);
    await page.getByRole("button", { name: "Code", exact: true }).click();
    await page.getByRole("treeitem", { name: "src" }).click();
    await page.getByRole("treeitem", { name: "routes.js" }).click();
    await page.getByRole("option").nth(6).click();
    const reason = page.getByRole("complementary", { name: "Why this line exists" });
    await reason.getByText("A station without parts gives a flat line.").first().waitFor();
    const read = reason.getByRole("link", { name: /^#\d+/ }).first();
    const cause = /#(\d+)/.exec(await read.innerText())?.[1] ?? "";
    await read.click();
    await page.locator(`article[data-seq="${cause}"][aria-current=true]`).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
