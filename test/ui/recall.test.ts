/** Recall in the dashboard: a question in words above the hits, hooks that are shown before they are written, and what they offered. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { testEnv } from "../git/_repo.ts";
import { post } from "../recall/_hook.ts";
import { edit, fails, idOf, says, shell, user, writeSessions } from "../recall/sessions.ts";
import { violations } from "./axe.ts";
import { describeUi, load, type Stage, useStage, visit } from "./browser.ts";

const SECRET = `ghp_${"16C7e42F292c6912E7710c838347Ae178B4a".slice(0, 36)}`;
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
const PAST = [
  {
    ...{ n: 1, at: daysAgo(9) },
    turns: [
      user("Run the migrations of the ledger"),
      fails("npm run migrate", "Error: connect ECONNREFUSED 127.0.0.1:5432"),
      shell("docker compose up -d"),
      shell("npm run migrate"),
      says(`The ledger stores its entries in SQLite because two processes write; its token is ${SECRET}.`),
    ],
  },
  { ...{ n: 2, at: daysAgo(2) }, turns: [user("Tidy the readme"), says("The readme names the options.")] },
];
const QUESTION = "why does the ledger store entries in sqlite?";

/** Widths and themes of the pictures, and the page without a fault in each. */
async function looksRight({ page }: Stage, name: string, check: () => Promise<unknown>): Promise<void> {
  for (const [width, colorScheme] of [
    [1440, "light"],
    [1440, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    // What follows the width by script does so a moment later.
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await check()).toEqual([]);
    const shots = process.env.SESSARC_SHOTS;
    if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`) });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

const LAMP = "export const lampColour = warm(2700);";

/** A session in a repository that holds its edit, committed after it. */
async function writeCommitted(home: string): Promise<void> {
  const root = join(home, "lamp");
  const day = Math.floor(Date.parse(daysAgo(5)) / 1_000);
  await mkdir(root);
  const commit = async (text: string, seconds: number) => {
    await writeFile(join(root, "lamp.ts"), text);
    const env = { ...testEnv(seconds), HOME: home };
    execFileSync("sh", ["-c", "git init -q --template= && git add . && git commit -qm Lamp"], { cwd: root, env });
  };
  await commit("// begin\n// end\n", day - 100);
  await commit(`// begin\n${LAMP}\n// end\n`, day + 600);
  const turns = [
    user("Make the lamp warmer"),
    edit(join(root, "lamp.ts"), "// end", `${LAMP}\n// end`),
    says("We decided to make the lamp warmer because the blue light keeps people awake."),
  ];
  await writeSessions(home, [...PAST, { n: 3, at: daysAgo(5), cwd: root, turns }]);
}

describeUi("dashboard: recall", () => {
  const get = useStage({ fill: writeCommitted });

  it("answers a question with evidence that leads to its message, masks secrets, and is silent without any", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions?q=${encodeURIComponent(QUESTION)}`);
    const said = page.getByRole("region", { name: "What earlier sessions say" });
    await said.getByRole("link").first().waitFor();
    // A title and its lines, with the words of the question marked in both.
    expect(await said.getByRole("link", { name: "Run the migrations of the ledger" }).count()).toBe(1);
    expect(await said.locator("mark").allInnerTexts()).toEqual(
      expect.arrayContaining(["ledger", "stores", "entries", "SQLite"]),
    );
    expect(await said.innerText()).toContain("Run the migrations of the ledger");
    expect(await said.innerText()).toContain("The ledger stores its entries in SQLite");
    expect(await said.innerText()).not.toContain(SECRET);
    await visit(stage, `/sessions?q=${encodeURIComponent("how was econnrefused of the migrate command fixed?")}`);
    const failed = said.getByRole("link").filter({ hasText: "ECONNREFUSED" });
    expect(await failed.innerText()).toMatch(/Fixed by\s+docker compose up -d/);
    await looksRight(stage, "fix", () => violations(stage));
    await visit(stage, `/sessions?q=${encodeURIComponent(QUESTION)}`);
    // Something was found: only no session has all of these words.
    const truth = page.getByText("No message has all of these words.");
    await truth.waitFor();
    // Before what answers it in part.
    const top = async (one: typeof said) => (await one.boundingBox())?.y ?? Number.NaN;
    expect(await top(truth)).toBeLessThan(await top(said));
    expect(await page.getByText(/^No session contains/).count()).toBe(0);
    expect(await page.getByRole("button", { name: "Clear the search" }).count()).toBe(0);
    await looksRight(stage, "question", () => violations(stage));
    await said.getByRole("link", { name: /stores its entries/ }).click();
    await page.waitForURL(
      (url) => url.pathname.includes(encodeURIComponent(idOf(1))) || url.pathname.includes(idOf(1)),
    );
    expect(new URL(page.url()).searchParams.get("m")).toMatch(/^\d+$/);
    for (const q of ["ledger sqlite", "how do penguins hatch their young"]) {
      const answered = page.waitForResponse((one) => one.url().includes("/api/search"));
      await visit(stage, `/sessions?q=${encodeURIComponent(q)}`);
      await answered;
      expect(await said.count()).toBe(0);
    }
    expect(stage.problems()).toEqual([]);
  });

  it("answers words that no message has together as a question, and leaves out what says nothing where it cannot", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, `/sessions?q=${encodeURIComponent("sqlite reasons")}`);
    const said = page.getByRole("region", { name: "What earlier sessions say" });
    await said.getByRole("link", { name: /stores its entries in SQLite/ }).waitFor();
    await page.getByText("No message has all of these words: none has “reasons”.").waitFor();
    await visit(stage, "/sessions?q=sqlite+options");
    await page.getByText("No message has “sqlite” and “options” together.").waitFor();
    // The same words as they are written, and those of a question that say what is looked for, lead to what has them all.
    for (const [asked, truth, offer, then] of [
      ["ledger sqlitte", /none has “sqlitte”\.$/, /^Did you mean “ledger SQLite”\? 1 session$/, "ledger SQLite"],
      [
        "how did we fix the ledger entries?",
        /of these words\.$/,
        /^Only “ledger entries” 1 session$/,
        "ledger entries",
      ],
    ] as const) {
      await visit(stage, `/sessions?q=${encodeURIComponent(asked)}`);
      await said.getByRole("link").first().waitFor();
      await page.getByText(truth).waitFor();
      await page.getByRole("button", { name: offer }).waitFor();
      await looksRight(stage, `offer-${then.replace(" ", "-")}`, () => violations(stage));
      await page.getByRole("button", { name: offer }).click();
      await page.waitForURL((url) => url.searchParams.get("q") === then);
      await page.locator("a[data-result]").waitFor();
    }
    // Beside a filter it is no question.
    for (const [asked, offer, then] of [
      ["how does the readme name these options", /^Only “readme name options” 1 session$/, "readme name options"],
      ["readme of the penguins and options", /^Without “penguins” 1 session$/, "readme options"],
    ] as const) {
      await visit(stage, `/sessions?tool=claude-code&q=${encodeURIComponent(asked)}`);
      await page.getByRole("button", { name: offer }).click();
      await page.waitForURL((url) => url.searchParams.get("q") === then);
      await page.locator("a[data-result]").waitFor();
    }
    expect(stage.problems()).toEqual([]);
  });

  it("names a line's file, its commit, and whether the code is still there", async () => {
    const stage = get();
    const { page } = stage;
    const question = "why did we make the lamp warmer?";
    const line = page.getByRole("region", { name: "What earlier sessions say" }).locator("li li").first();
    // The first answer waits for git a little only.
    await expect
      .poll(async () => {
        await load(stage, `/sessions?q=${encodeURIComponent(question)}`);
        await line.waitFor();
        return line.innerText();
      })
      .toMatch(/lamp\.ts\s+Code kept\s+Commit [0-9a-f]{9}/);
    await looksRight(stage, "fate", () => violations(stage));
    expect(stage.problems()).toEqual([]);
  });

  it("shows the hooks before they are written, installs and removes them, and lists what they offered", async () => {
    const stage = get();
    const { page, home } = stage;
    const settings = join(home, ".claude/settings.json");
    const written = async () => (existsSync(settings) ? readFile(settings, "utf8") : null);
    const before = await written();
    await visit(stage, "/tools/advanced?view=recall");
    await page.getByText("Nothing was offered yet.").waitFor();
    await page.getByRole("button", { name: "Install… Claude Code" }).click();
    const sheet = page.getByRole("dialog");
    await sheet
      .getByText(/SessionStart/)
      .first()
      .waitFor();
    expect(await written()).toBe(before);
    await looksRight(stage, "install", () => violations(stage, "[role=dialog]"));
    await sheet.getByRole("switch", { name: /With the change of a file/ }).uncheck();
    await sheet.getByRole("button", { name: "Write and install" }).click();
    await page.getByRole("button", { name: "Remove Claude Code" }).waitFor();
    expect(await written()).toContain("SessionStart");
    await page.getByText("At a session's start · With a command that failed before").waitFor();

    const ask = (n: number) =>
      post<{ hookSpecificOutput?: object }>(
        stage.served.kernel,
        "/api/security/pretooluse?client=claude-code&hook=none&event=call",
        {
          ...{ session_id: `now-${n}`, cwd: "/w/app", hook_event_name: "PreToolUse" },
          ...{ tool_name: "Bash", tool_input: { command: "npm run migrate" } },
        },
      );
    let n = 0;
    await expect
      .poll(async () => JSON.stringify(await ask(n++)), { timeout: 30_000 })
      .toContain("docker compose up -d");
    await load(stage, "/tools/advanced?view=recall");
    const log = page.getByRole("list", { name: "What was offered" });
    await log
      .getByText(/docker compose up -d/)
      .first()
      .waitFor();
    await log.getByText("use not known").first().waitFor();
    await looksRight(stage, "hooks", () => violations(stage));
    await page.getByRole("button", { name: "Remove Claude Code" }).click();
    await page.getByRole("button", { name: "Install… Claude Code" }).waitFor();
    expect(await written()).toBe(before);
    expect(stage.problems()).toEqual([]);
  });
});
