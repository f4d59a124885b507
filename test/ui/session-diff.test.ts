/** The diff beside the transcript: who wrote a hunk, unchanged stretches, folding, going from file to file and commit to commit. */
import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Locator } from "playwright-core";
import { expect, it } from "vitest";
import { LONG } from "../rounds.ts";
import { violations } from "./axe.ts";
import { describeUi, projectId, sessionId, settled, useStage, visit } from "./browser.ts";

const START = Date.UTC(2026, 10, 10, 9);
const minute = (n: number) => new Date(START + n * 60_000).toISOString();
const lines = Array.from({ length: 80 }, (_, i) => `export const value${i + 1} = ${i + 1};`);

/** A repository whose second commit holds two edits of one session, made while it ran. */
async function writeHome(home: string): Promise<void> {
  const root = join(home, "code", "values");
  await mkdir(join(root, "src"), { recursive: true });
  const git = (at: number, ...args: string[]) =>
    promisify(execFile)("git", ["-C", root, "-c", "user.name=Dev", "-c", "user.email=dev@example.com", ...args], {
      env: { PATH: process.env.PATH, HOME: home, GIT_AUTHOR_DATE: minute(at), GIT_COMMITTER_DATE: minute(at) },
    });
  const save = (path: string, text: string) => writeFile(join(root, path), text);
  await git(-60, "init", "-q", "-b", "main");
  await save("src/values.ts", `${lines.join("\n")}\n`);
  await save("src/other.ts", "export const other = 1;\n");
  await save("src/still.ts", "// stands still\n");
  await git(-60, "add", ".");
  await git(-60, "commit", "-qm", "Values");
  const first = ["export const value10 = 10;", "export const value10 = tenth(10);"] as const;
  const second = [
    "export const value50 = 50;",
    "export const value50 = fiftieth(50);\nexport const half = fiftieth(25);",
  ] as const;
  await save("src/values.ts", `${lines.join("\n")}\n`.replace(...first).replace(...second));
  await save("src/other.ts", "export const other = 2;\n");
  await git(6, "commit", "-qam", "Two values");

  await save(
    "src/values.ts",
    `${lines.join("\n")}\n`
      .replace(...first)
      .replace(...second)
      .replace("fiftieth(25)", "25"),
  );
  await save("src/zero.ts", "export const zero = 0;\n".repeat(2_000));
  await git(40, "add", ".");
  await git(40, "commit", "-qm", "Half by hand");
  await save("src/one.ts", "export const one = 1;\n".repeat(2_000));
  await git(50, "add", ".");
  await git(50, "commit", "-qm", "One");

  const folder = join(home, ".claude", "projects", root.replace(/[^A-Za-z0-9]/g, "-"));
  await mkdir(folder, { recursive: true });
  let n = 0;
  let sessionId = "dddddddd-0000-4000-8000-000000000001";
  const row = (at: number, type: string, content: unknown) =>
    JSON.stringify({
      type,
      uuid: `u${++n}`,
      sessionId,
      cwd: root,
      version: "2.1.0",
      timestamp: minute(at),
      message: { role: type, ...(type === "assistant" && { id: `m${n}`, model: "claude-sonnet-4-5" }), content },
    });
  const use = (at: number, name: string, input: unknown) => [
    row(at, "assistant", [{ type: "tool_use", id: `t${n}`, name, input }]),
    row(at, "user", [{ type: "tool_result", tool_use_id: `t${n - 1}`, content: "done" }]),
  ];
  const path = join(root, "src/values.ts");
  const rows = [
    row(0, "user", "Compute two of the values"),
    ...use(1, "Read", { file_path: path }),
    ...use(2, "Edit", { file_path: path, old_string: first[0], new_string: first[1] }),
    ...use(4, "Edit", { file_path: path, old_string: second[0], new_string: second[1] }),
    ...use(6, "Bash", { command: "git commit -qam 'Two values'" }),
    row(25, "user", "Thank you"),
    row(55, "user", "And one more"),
  ];
  await writeFile(join(folder, `${sessionId}.jsonl`), `${rows.join("\n")}\n`);

  // Not committed: each edit finds what the one before left.
  sessionId = "dddddddd-0000-4000-8000-000000000002";
  const more = [
    row(50, "user", "Shift the lines"),
    ...use(51, "Edit", {
      file_path: path,
      old_string: "value1 = 1;",
      new_string: "value1 = 1;\nexport const next = 2;",
    }),
    ...use(52, "Edit", { file_path: path, old_string: "value60 = 60;", new_string: "value60 = sixtieth(60);" }),
    ...use(53, "Edit", { file_path: path, old_string: "export const gone = 0;", new_string: "export const gone = 1;" }),
    ...use(54, "Write", { file_path: join(root, "src/new.ts"), content: "one\ntwo\nthree\n" }),
    ...use(55, "Edit", { file_path: join(root, "src/new.ts"), old_string: "three", new_string: "3" }),
  ];
  await writeFile(join(folder, `${sessionId}.jsonl`), `${more.join("\n")}\n`);
}

/** A session that reads a file and changes none. */
async function writeReader(home: string): Promise<void> {
  const root = join(home, "code", "values");
  const folder = join(home, ".claude", "projects", root.replace(/[^A-Za-z0-9]/g, "-"));
  const sessionId = "dddddddd-0000-4000-8000-000000000003";
  const row = (at: number, type: string, content: unknown) =>
    JSON.stringify({
      ...{ type, uuid: `r${at}`, sessionId, cwd: root, version: "2.1.0", timestamp: minute(at) },
      message: { role: type, ...(type === "assistant" && { id: `r${at}`, model: "claude-sonnet-4-5" }), content },
    });
  const input = { file_path: join(root, "src/still.ts") };
  const rows = [
    row(30, "user", "Explain what stands still"),
    row(31, "assistant", [{ type: "tool_use", id: "read-1", name: "Read", input }]),
    row(32, "user", [{ type: "tool_result", tool_use_id: "read-1", content: "// stands still" }]),
    row(33, "assistant", [{ type: "text", text: "Nothing moves." }]),
  ];
  await writeFile(join(folder, `${sessionId}.jsonl`), `${rows.join("\n")}\n`);
}

/** Edits whose texts end with a line or in one, and hold lines that they leave alone. */
async function writeEdits(home: string): Promise<void> {
  const root = join(home, "code", "values");
  const folder = join(home, ".claude", "projects", root.replace(/[^A-Za-z0-9]/g, "-"));
  const sessionId = "dddddddd-0000-4000-8000-000000000004";
  const inputs = [
    { old_string: "one\n", new_string: "one\ntwo\n" },
    { old_string: "one", new_string: "one\ntwo\nthree" },
    { old_string: "one\ntwo", new_string: "one\n2\n" },
    { old_string: "a\nb\nc\nd\ne", new_string: "A\nb\nc\nd\nE\nF" },
    { old_string: "", new_string: "one\ntwo\n" },
    { old_string: "one\ntwo\n", new_string: "" },
    { content: "one\ntwo\nthree\n" },
    { old_string: `${"long line\n".repeat(2_000)}one`, new_string: `${"long line\n".repeat(2_000)}two` },
    { old_string: `before ${"word ".repeat(60)}`, new_string: `after ${"word ".repeat(60)}${"x".repeat(300)}` },
  ];
  const rows = inputs.flatMap((input, i) => {
    const at = { sessionId, cwd: root, version: "2.1.0", timestamp: minute(60 + i) };
    const name = "content" in input ? "Write" : "Edit";
    const call = { type: "tool_use", id: `c${i}`, name, input: { file_path: join(root, "src/few.txt"), ...input } };
    const message = { role: "assistant", id: `c${i}`, model: "claude-sonnet-4-5", content: [call] };
    const result = { role: "user", content: [{ type: "tool_result", tool_use_id: `c${i}`, content: "done" }] };
    return [
      JSON.stringify({ ...at, type: "assistant", uuid: `c${i}`, message }),
      JSON.stringify({ ...at, type: "user", uuid: `d${i}`, message: result }),
    ];
  });
  const prompt = { role: "user", content: "Change few lines" };
  const first = { type: "user", uuid: "c", sessionId, cwd: root, version: "2.1.0", timestamp: minute(59) };
  await writeFile(
    join(folder, `${sessionId}.jsonl`),
    `${[JSON.stringify({ ...first, message: prompt }), ...rows].join("\n")}\n`,
  );
}

describeUi("dashboard: the diff beside a session", () => {
  const get = useStage({
    fill: async (home) => {
      await writeHome(home);
      await writeReader(home);
      await writeEdits(home);
    },
  });
  const open = async (query: string) => {
    const stage = get();
    await visit(stage, `/sessions/${await sessionId(stage, "Compute two")}${query}`);
    return { stage, page: stage.page, pane: stage.page.getByRole("region", { name: "Side pane" }) };
  };

  it("counts the lines of an edit that its diff marks", async () => {
    const stage = get();
    await visit(stage, `/sessions/${await sessionId(stage, "Change few")}?m=0`);
    const figures = ["+1 −0", "+2 −0", "+1 −1", "+3 −2", "+2 −0", "+0 −2", "+3 −0", "+1 −1", "+1 −1"];
    for (const [i, figure] of figures.entries()) {
      const row = stage.page.locator(`article[data-seq="${1 + 2 * i}"]`);
      await row.scrollIntoViewIfNeeded();
      await row.getByText(figure, { exact: true }).waitFor();
      const drawn = async (sign: string) => row.locator(`[data-sign="${sign}"]`).count();
      await expect.poll(async () => `+${await drawn("+")} −${await drawn("-")}`).toBe(figure);
    }
    expect(stage.problems()).toEqual([]);
  });

  it("says at which message each hunk was written, and leads there", async () => {
    const { stage, page, pane } = await open("?m=9&pane=diff&f=src/values.ts");
    await pane.getByText("19 min before this message").waitFor();
    const links = pane.getByRole("button", { name: /^written at #/ });
    await links.nth(1).waitFor();
    expect(await links.allInnerTexts()).toEqual(["written at #3", "written at #5"]);
    expect(await violations(stage)).toEqual([]);
    await links.nth(1).press("Enter");
    await page.locator('article[data-seq="5"][aria-current=true]').waitFor();
    // At that message the commit was not made yet: the edit itself is shown.
    await pane.getByText(/^Edit \d of \d$/).waitFor();
    await links.first().waitFor({ state: "detached" });
    expect(stage.problems()).toEqual([]);
  });

  it("shows code of the session when none is asked for: the file it changed, else the one it read", async () => {
    const stage = get();
    const { page } = stage;
    const pane = page.getByRole("region", { name: "Side pane" });
    // Without a message, and at one after the commit whose first file is another.
    for (const at of ["", "&m=9"]) {
      await visit(stage, `/sessions/${await sessionId(stage, "Compute two")}?pane=code${at}`);
      await pane.getByTitle("src/values.ts").first().waitFor();
    }
    await pane.getByRole("button", { name: "Diff", exact: true }).click();
    await pane.getByRole("group", { name: "Changes of src/values.ts" }).waitFor();
    await visit(stage, `/sessions/${await sessionId(stage, "Explain what")}?pane=code`);
    await pane.getByText("// stands still").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("shows what became of each edit, in its row and in the diff, and leads to the commit that took it", async () => {
    const { stage, page, pane } = await open("?m=5&pane=diff");
    const kept = page.locator('article[data-seq="3"] [data-fate]');
    await kept.waitFor();
    expect(await kept.innerText()).toMatch(/^still in the code [0-9a-f]{7}/);
    expect(await kept.getAttribute("title")).toMatch(/^1 line at HEAD\nCommit [0-9a-f]{7}: Two values$/);
    const partly = pane.locator("[data-fate=partly]");
    await partly.waitFor();
    expect(await partly.getAttribute("title")).toMatch(/^1 line at HEAD\n1 line rewritten by a person\n/);
    // In the row of its file, below the switch, which touches no border.
    const boxOf = async (locator: Locator) => {
      const box = await locator.boundingBox();
      if (!box) throw new Error("It is not shown");
      return box;
    };
    const tabs = await boxOf(pane.getByRole("navigation"));
    const versions = await boxOf(pane.getByRole("group", { name: "What is compared" }));
    const path = await boxOf(pane.getByTitle("src/values.ts").first());
    const fate = await boxOf(partly);
    expect(versions.y - (tabs.y + tabs.height)).toBeGreaterThanOrEqual(3);
    expect(Math.abs(path.y + path.height / 2 - (fate.y + fate.height / 2))).toBeLessThan(4);
    expect(await violations(stage)).toEqual([]);
    await partly.press("Enter");
    await page.waitForURL(/\/projects\/.+tab=changes&commit=[0-9a-f]{40}/);
    await page.getByRole("heading", { name: "What became of the lines" }).waitFor();
    await page.getByText("rewritten by a person").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("shows what a commit changed, file by file, and why each of its lines exists", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/projects/${await projectId(stage, "values")}?tab=changes`);
    await page.getByRole("button", { name: "Two values" }).click();
    await page.getByRole("heading", { name: "Changed files · 2 files" }).waitFor();
    const file = page.getByRole("button", { name: "src/other.ts" });
    expect(await file.getAttribute("aria-current")).toBe("true");
    const diff = page.getByRole("group", { name: "Changes of src/other.ts" });
    const reason = page.getByRole("dialog", { name: "Why this line exists" });
    const why = page.getByRole("button", { name: "Why this line" });
    const ask = async (line: Locator, answer: string) => {
      await line.hover();
      await why.click();
      await reason.getByText(answer).first().waitFor();
      await page.keyboard.press("Escape");
      await reason.waitFor({ state: "detached" });
    };
    await ask(diff.locator("[data-sign='+']"), "It came with the commit");
    await page.getByRole("button", { name: "src/values.ts" }).click();
    await page.waitForURL(/commit=[0-9a-f]{40}&file=src/);
    const values = page.getByRole("group", { name: "Changes of src/values.ts" });
    await ask(values.locator("[data-sign='+']").filter({ hasText: "tenth(10)" }), "Compute two of the values");
    // A removed line is in the commit before.
    await ask(values.locator("[data-sign='-']").filter({ hasText: "value50" }), "Values");
    expect(await violations(stage)).toEqual([]);

    // Of a long diff only the lines in view are in the page.
    await page.getByRole("button", { name: "Half by hand" }).click();
    await page.getByRole("button", { name: "src/zero.ts" }).click();
    const zero = page.getByRole("group", { name: "Changes of src/zero.ts" });
    await zero.locator("[data-sign='+']").first().waitFor();
    expect(await zero.locator("[data-sign='+']").count()).toBeLessThan(200);
    await zero.evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await zero.locator("[data-number='2000']").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("numbers the lines of an edit as in its file: with what was edited since the commit, and not at all where it is unknown", async () => {
    const stage = get();
    const { page } = stage;
    const pane = page.getByRole("region", { name: "Side pane" });
    const at = async (title: string, seq: number) => {
      await visit(stage, `/sessions/${await sessionId(stage, title)}?m=${seq}&pane=diff`);
      await pane.locator("[data-sign='+']").first().waitFor();
      await settled(page);
    };
    const numbers = () =>
      pane
        .locator("[data-sign='-'], [data-sign='+']")
        .evaluateAll((all) =>
          all.map(
            (one) =>
              `${one.getAttribute("data-sign")}${one.querySelectorAll(".tnum").length > 0 ? one.getAttribute("data-number") : "?"}`,
          ),
        );
    await at("Compute two", 3);
    await expect.poll(numbers).toEqual(["-10", "+10"]);
    await at("Compute two", 5);
    await expect.poll(numbers).toEqual(["-50", "+50", "+51"]);
    // At HEAD it is line 61; the edit before put one line above it.
    await at("Shift the lines", 3);
    await expect.poll(numbers).toEqual(["-62", "+62"]);
    await at("Shift the lines", 5);
    await expect.poll(numbers).toEqual(["-?", "+?"]);
    // A file that is in no commit: as the session wrote it.
    await at("Shift the lines", 9);
    await expect.poll(numbers).toEqual(["-3", "+3"]);
    expect(stage.problems()).toEqual([]);
  });

  it("has only the lines in view of a long diff in the page, and scrolls to its end", async () => {
    const { stage, pane } = await open("?m=10&pane=diff&f=src/one.ts");
    const lines = pane.locator("[data-sign='+']");
    await lines.first().waitFor();
    expect(await lines.count()).toBeLessThan(200);
    await pane
      .getByRole("group", { name: "Changes of src/one.ts" })
      .evaluate((box) => box.scrollTo(0, box.scrollHeight));
    await pane.locator("[data-number='2000']").waitFor();
    expect(stage.problems()).toEqual([]);
  });

  it("wraps long lines: of a diff in the pane, both halves are in view", async () => {
    const stage = get();
    await visit(stage, `/sessions/${await sessionId(stage, "Change few")}?m=17&pane=diff`);
    const pane = stage.page.getByRole("region", { name: "Side pane" });
    const isInView = (line: Locator) =>
      line.evaluate((element) => {
        const region = element.closest("[role=group]")?.getBoundingClientRect();
        const inside = [element, ...element.querySelectorAll("code")].map((one) => one.getBoundingClientRect());
        return region !== undefined && inside.every((box) => box.left >= region.left && box.right <= region.right);
      });
    const lines = pane.locator("[data-line]");
    await lines.first().waitFor();
    for (const line of await lines.all()) expect(await isInView(line)).toBe(true);
    await pane.getByRole("button", { name: "Side by side" }).click();
    await pane.locator('[data-sign="-"] + [data-sign="+"]').waitFor();
    for (const line of await lines.all()) expect(await isInView(line)).toBe(true);
    expect(await violations(stage, "section[aria-label='Side pane']")).toEqual([]);
  });

  it("opens unchanged stretches and folds hunks away", async () => {
    const { pane } = await open("?m=9&pane=diff&f=src/values.ts");
    await pane.getByRole("button", { name: "show 33 lines" }).click();
    await pane.getByText("export const value30 = 30;").waitFor();
    expect(await pane.getByRole("button", { name: /^show \d+ lines$/ }).allInnerTexts()).toEqual([
      "show 6 lines",
      "show 27 lines",
    ]);
    const head = pane.getByRole("button", { name: /^@@ -7,7/ });
    await head.press("Enter");
    expect(await head.getAttribute("aria-expanded")).toBe("false");
    await pane.getByText("tenth(10)").waitFor({ state: "detached" });
  });

  it("goes side by side with s, to other files with ] and [, and over commits with , and .", async () => {
    const { page, pane } = await open("?m=9&pane=diff&f=src/values.ts");
    await pane.getByText("Two values").waitFor();
    await page.locator("main h1").focus();
    await page.keyboard.press("s");
    await pane.getByRole("button", { name: "Unified" }).waitFor();
    await page.keyboard.press("]");
    await page.waitForURL(/f=src\/other\.ts/);
    await page.keyboard.press("[");
    await page.waitForURL(/f=src\/values\.ts/);
    await page.setViewportSize({ width: 1200, height: 900 });
    await pane.getByRole("button", { name: "Unified" }).waitFor({ state: "detached" });
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.keyboard.press(",");
    await page.waitForURL(/m=7/);
    await page.locator("article[aria-current=true]").getByText("git commit").waitFor();
    await pane.getByText("at this message").waitFor();
    await visit(get(), `${new URL(page.url()).pathname}?m=2&pane=diff`);
    await pane.getByText("Values", { exact: true }).waitFor();
    await page.locator("main h1").focus();
    await page.keyboard.press(".");
    await pane.getByText("Two values").waitFor();
  });

  it("shows the selected edit first, then its file over commits, and leads from an unchanged file to its last change", async () => {
    const { stage, page, pane } = await open("?m=3&pane=diff");
    await pane.getByText("export const value10 = tenth(10);").waitFor();
    expect(await pane.getByRole("radio", { name: "This edit" }).isChecked()).toBe(true);
    expect(await pane.getByText("value50").count()).toBe(0);
    if (LONG) expect(await violations(stage)).toEqual([]);
    // The first commit holds it as it was: nothing was changed by a commit yet but its own adding.
    await pane.getByText("Commit", { exact: true }).click();
    await page.waitForURL(/of=commit/);
    await pane.getByText("value1 = 1").waitFor();
    // A commit that left a file alone reports it and shows no green file.
    await open("?m=9&pane=diff&f=src/still.ts");
    await pane.getByText("This commit left the file alone.").waitFor();
    expect(await pane.getByText("stands still").count()).toBe(0);
    await pane.getByRole("button", { name: /last touched it/ }).click();
    await pane.getByText("stands still").waitFor();
    await pane.getByRole("button", { name: "Back" }).click();
    await pane.getByText("This commit left the file alone.").waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
