/** The tree of files beside a session: keys, filter, changed files, large repositories, moving through commits. */
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, sessionId, useStage, visit } from "./browser.ts";
import { inHome, writeRepository, writeSessionIn } from "./repository.ts";

const START = new Date(Date.UTC(2026, 10, 10, 9));
const second = (n: number) => new Date(START.getTime() + n * 1_000);
const FIRST = {
  "README.md": "Harbour\n",
  "old.txt": "gone soon\n",
  "docs/guide/start.md": "Start\n",
  "docs/guide/next.md": "Next\n",
  "src/api/harbour.ts": "export {};\n",
  "src/api/routes/list.ts": "export {};\n",
  "src/main.ts": "export {};\n",
  "test/main.test.ts": "export {};\n",
};

describeUi("dashboard: the files of a session", () => {
  const get = useStage({
    fill: async (home) => {
      const root = inHome(home, "harbour");
      await writeRepository(root, [
        { at: second(-60), subject: "Harbour", files: FIRST },
        {
          at: second(5),
          subject: "List the berths",
          files: {
            "src/api/routes/list.ts": "export const list = 1;\n",
            "docs/guide/next.md": "More\n",
            "old.txt": null,
          },
        },
      ]);
      await writeSessionIn(home, root, "Berths of the harbour", START);
    },
  });
  const open = async (query: string, width = 1440) => {
    const stage = get();
    await stage.page.setViewportSize({ width, height: 900 });
    await visit(stage, `/sessions/${await sessionId(stage, "Berths")}${query}`);
    const tree = stage.page.getByRole("tree", { name: "Files" });
    await tree.waitFor();
    /** Names of the rows, two spaces a level. */
    const rows = () =>
      tree.getByRole("treeitem").evaluateAll((items) =>
        items.map((item) => {
          const level = Number(item.getAttribute("aria-level"));
          return "  ".repeat(level - 1) + item.querySelector("span.font-mono")?.textContent;
        }),
      );
    const active = () =>
      tree.evaluate((one) => document.getElementById(one.getAttribute("aria-activedescendant") ?? "")?.title);
    return { stage, page: stage.page, tree, rows, active };
  };

  it("is gone through with the keys of a tree", async () => {
    const { stage, page, tree, rows, active } = await open("?m=9&pane=files");
    await expect.poll(rows).toEqual(["docs", "src", "test", "README.md", "old.txt"]);
    await tree.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await expect.poll(rows).toEqual(["docs", "src", "  api", "  main.ts", "test", "README.md", "old.txt"]);
    const src = tree.locator('[title="src/"]');
    expect(await src.getAttribute("aria-expanded")).toBe("true");
    await page.keyboard.press("ArrowRight");
    expect(await active()).toBe("src/api/");
    const api = tree.locator('[title="src/api/"]');
    expect([await api.getAttribute("aria-posinset"), await api.getAttribute("aria-setsize")]).toEqual(["1", "2"]);
    await page.keyboard.press("ArrowLeft");
    expect(await active()).toBe("src/");
    await page.keyboard.press("ArrowLeft");
    expect(await src.getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("End");
    expect(await active()).toBe("old.txt");
    await page.keyboard.press("r");
    expect(await active()).toBe("README.md");
    await page.keyboard.press("Home");
    await page.keyboard.press("*");
    await expect.poll(rows).toHaveLength(5 + 1 + 2 + 1);
    expect(await violations(stage)).toEqual([]);
    // Space chooses and stays, Enter goes to the file; letters of the page do not act meanwhile.
    await page.keyboard.press("r");
    await page.keyboard.press("Space");
    await page.waitForURL(/f=README\.md/);
    expect(await tree.locator('[title="README.md"]').getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Enter");
    await page.waitForURL(/pane=code/);
    await page.getByText("Harbour", { exact: true }).first().waitFor();
    await page.locator("button[aria-current=page]:focus").waitFor();
    expect(await page.locator("button[aria-current=page]:focus").innerText()).toBe("Code");
    expect(stage.problems()).toEqual([]);
  });

  it("opens by a click, marks what changed up to its folders, and shows only that on request", async () => {
    const { stage, page, tree, rows } = await open("?m=9&pane=files");
    const dotted = () =>
      tree.locator("[data-changed]").evaluateAll((dots) => dots.map((dot) => dot.parentElement?.title));
    await expect.poll(dotted).toEqual(["docs/", "src/", "old.txt"]);
    await tree.locator('[title="src/"]').click();
    await tree.locator('[title="src/api/"]').click();
    await expect.poll(dotted).toEqual(["docs/", "src/", "src/api/", "src/api/routes/", "old.txt"]);
    expect(await tree.locator('[title="src/api/routes/"]').innerText()).toContain("1 changed");
    await page.getByRole("switch", { name: "Changed only" }).check();
    await page.waitForURL(/changed=1/);
    await expect
      .poll(rows)
      .toEqual(["docs", "  guide", "    next.md", "src", "  api", "    routes", "      list.ts", "old.txt"]);
    if (LONG) expect(await violations(stage)).toEqual([]);
    await tree.locator('[title="docs/"]').click();
    await expect.poll(async () => (await rows()).slice(0, 2)).toEqual(["docs", "src"]);
    await tree.locator('[title="src/api/routes/list.ts"]').click();
    await page.waitForURL(/f=src\/api\/routes\/list\.ts/);
    await page.waitForURL(/pane=diff/);
    await page.getByText("export const list = 1;").waitFor();
  });

  it("keeps the branches open that hold what is looked for", async () => {
    const { page, tree, rows, active } = await open("?m=9&pane=files");
    await page.getByRole("searchbox", { name: "Filter files" }).fill("MAIN");
    await tree.locator('[title="docs/"]').waitFor({ state: "detached" });
    await expect.poll(rows).toEqual(["src", "  main.ts", "test", "  main.test.ts"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("End");
    expect(await active()).toBe("test/main.test.ts");
    await page.getByRole("searchbox", { name: "Filter files" }).fill("no such");
    await page.getByText("No files match.").waitFor();
    await page.getByRole("searchbox", { name: "Filter files" }).fill("");
    await tree.locator('[title="docs/"]').waitFor();
    await expect.poll(rows).toEqual(["docs", "src", "test", "README.md", "old.txt"]);
  });

  it("keeps what is open while moving through commits, and opens the way to a linked file", async () => {
    const { page, tree, rows } = await open("?m=9&pane=files&f=docs/guide/start.md");
    await tree.locator('[title="docs/guide/start.md"][aria-selected=true]').waitFor();
    await tree.locator('[title="src/"]').click();
    const opened = [
      "docs",
      "  guide",
      "    next.md",
      "    start.md",
      "src",
      "  api",
      "  main.ts",
      "test",
      "README.md",
      "old.txt",
    ];
    await expect.poll(rows).toEqual(opened);
    await tree.locator('[title="old.txt"]').getByText("deleted").waitFor();
    await page.locator("main h1").focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press("k");
    // The first commit added all of it.
    await tree.locator('[title="old.txt"]').getByText("added").waitFor();
    await expect.poll(rows).toEqual(opened);
    expect(new URL(page.url()).searchParams.get("f")).toBe("docs/guide/start.md");
  });

  it("is in a sheet on a small screen", async () => {
    const stage = get();
    await stage.page.setViewportSize({ width: 390, height: 800 });
    await visit(stage, `/sessions/${await sessionId(stage, "Berths")}?m=9`);
    await stage.page.getByRole("button", { name: "Code" }).click();
    const sheet = stage.page.getByRole("dialog");
    await sheet.getByRole("button", { name: "Files" }).click();
    await sheet.getByRole("tree").waitFor();
    await sheet.locator('[title="src/"]').click();
    await sheet.locator('[title="src/main.ts"]').waitFor();
    if (LONG) expect(await violations(stage)).toEqual([]);
  });
});

describeUi("dashboard: the files of a repository of 50,000", () => {
  const FOLDERS = 500;
  const get = useStage({
    fill: async (home) => {
      const root = inHome(home, "vast");
      const files: Record<string, string> = {};
      for (let i = 0; i < 50_000; i++)
        files[`lib${i % 5}/part${String(i % FOLDERS).padStart(3, "0")}/file${String(i).padStart(5, "0")}.ts`] = "";
      await writeRepository(root, [{ at: second(-60), subject: "Vast", files }]);
      await writeSessionIn(home, root, "Vast repository", START);
    },
  });

  it("mounts only what is in view, however much is open", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions/${await sessionId(stage, "Vast")}?m=5&pane=files`);
    const tree = page.getByRole("tree");
    await tree.getByRole("treeitem").first().waitFor();
    expect(await tree.getByRole("treeitem").count()).toBe(5);
    await page.getByRole("searchbox", { name: "Filter files" }).fill("file");
    await page.waitForFunction(() => document.querySelectorAll("[role=treeitem]").length > 5);
    await tree.focus();
    await page.keyboard.press("End");
    await tree.locator('[title="lib4/part499/file49999.ts"]').waitFor();
    expect(await page.locator("[role=treeitem]").count()).toBeLessThan(80);
    // All of them are open: 5 + 500 folders and 50,000 files.
    expect(await tree.evaluate((one) => Math.round(one.scrollHeight / 28))).toBe(50_505);
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.waitForURL(/f=lib4\/part499\/file49499\.ts/);
    expect(stage.problems()).toEqual([]);
  });
});
