/** Homes on the other side of Windows and WSL: offered in Settings → Sources, one button each; a source in a stopped distribution is named as such. What is not there is folded. */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeDemo } from "../../plugins/demo/index.ts";
import { claudePath, claudeRows, writeLog } from "../rescue/_logs.ts";
import { describeUi, useStage, visit } from "./browser.ts";
import { layoutFaults } from "./probes.ts";

describeUi("dashboard: sources that are not there", () => {
  const get = useStage({
    fill: async (home) => {
      await writeDemo({ home });
      await rm(join(home, ".gemini"), { recursive: true });
    },
  });

  it("are folded: assistants together, folders below their assistant", async () => {
    const stage = get();
    const { page, home } = stage;
    await visit(stage, "/settings/sources");
    const folderOf = (path: string) => page.getByText(join(home, path), { exact: true });
    await folderOf(".codex/sessions").waitFor();
    for (const [summary, path] of [
      ["1 other assistant not found on this machine", ".gemini/tmp"],
      ["1 folder that is not there", ".config/claude/projects"],
    ] as const) {
      expect(await folderOf(path).isVisible()).toBe(false);
      await page.getByText(summary).first().click();
      await folderOf(path).waitFor();
    }
    expect(stage.problems()).toEqual([]);
  });
});

describeUi("dashboard: homes beside this one", () => {
  const get = useStage();

  it("are added by one button, and one that is away says why it is not read", async () => {
    const stage = get();
    const { page } = stage;
    const said = { key: "aaaaaaaa-0000-4000-8000-000000000009", cwd: "/w/app", turns: 1 };
    const ann = join(stage.home, "wsl/Ubuntu/home/ann");
    await writeLog(claudePath(ann, said), claudeRows(said));
    // What this machine cannot have is added to the service's answer.
    await page.route("**/api/sources", async (route) => {
      if (route.request().method() !== "GET") return route.continue();
      const body = await (await route.fetch()).json();
      const claude = body.tools.find(({ tool }: { tool: string }) => tool === "claude-code");
      const isAdded = claude.sources.some(({ path }: { path: string }) => path === ann);
      const tools = [{ tool: "claude-code", label: "Claude Code" }];
      if (!isAdded) body.offered = [{ system: "wsl", name: "Ubuntu", user: "ann", path: ann, tools }];
      claude.sources.push({
        path: "//wsl.localhost/Debian/home/bob",
        added: true,
        exists: false,
        away: true,
        sessions: 0,
      });
      await route.fulfill({ json: body });
    });
    await visit(stage, "/settings/sources");
    const homes = page.getByRole("region", { name: "Homes beside this one" });
    expect(await homes.innerText()).toMatch(/ann in Ubuntu \(WSL\)\s+Claude Code/);
    expect(await page.getByText("not running", { exact: true }).getAttribute("title")).toContain("would start it");
    for (const size of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(size);
      expect(await layoutFaults(page)).toEqual([]);
    }
    await homes.getByRole("button", { name: "Read these logs too" }).click();
    await homes.waitFor({ state: "detached" });
    const sources = page.getByRole("region", { name: "Claude Code" });
    expect(await sources.innerText()).toMatch(/Ubuntu\/home\/ann\s+1 session/);
    expect(stage.problems()).toEqual([]);
  });
});
