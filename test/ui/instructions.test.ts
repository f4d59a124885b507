/** Lines for a project's instructions in the dashboard: evidence, cost, the change before it is written, what became of accepted ones, dismissed ones. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeFixtures } from "../rules/_fixtures.ts";
import { violations } from "./axe.ts";
import { describeUi, load, type Stage, useStage, visit } from "./browser.ts";

const SECRET = `ghp_${"16C7e42F292c6912E7710c838347Ae178B4a".slice(0, 36)}`;
const DAY = 86_400_000;
const TEXT = "# Ledger\n\nKeep functions short.\n";
const RIGHT = "docker compose --file deploy/compose.yaml run --rm tests npm run check";
const slip = [
  { user: "Run the checks" },
  { run: "npm run tests", out: "npm error Missing script: tests", fails: true },
  { run: "npm run check", out: "ok" },
];
const long = [
  { user: "Run the checks in the container" },
  { run: "docker compose --file deploy/compose.yaml run tests npm run check", out: "unknown flag", fails: true },
  { run: RIGHT, out: "ok" },
];
const saying = (text: string) => [{ user: "Explain the ledger" }, { reply: "So." }, { user: text }, { reply: "Yes." }];
const project = (name: string, sessions: Parameters<typeof writeFixtures>[1][number]["sessions"]) => ({
  ...{ name, what: "", planted: null },
  sessions,
});

async function fill(home: string): Promise<void> {
  const sessions = [
    ...Array.from({ length: 6 }, () => [...slip, ...long]),
    ...["never use emojis", `don't use emojis. The token is ${SECRET}`, "no emojis please"].map(saying),
  ];
  await writeFixtures(home, [project("ledger", sessions), project("calm", [saying("thanks")])], Date.now() - 20 * DAY);
  await mkdir(join(home, "work/ledger"), { recursive: true });
  await writeFile(join(home, "work/ledger/AGENTS.md"), TEXT);
}

/** Both themes at both widths: nothing overflows, no fault. */
async function looksRight({ page }: Stage, name: string, check: () => Promise<unknown>): Promise<void> {
  for (const [width, colorScheme] of [
    [1440, "light"],
    [1440, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    expect(await check()).toEqual([]);
    const shots = process.env.SESSARC_SHOTS;
    if (shots) await page.screenshot({ path: join(shots, `${name}-${width}-${colorScheme}.png`) });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

describeUi("dashboard: instructions of a project", () => {
  const get = useStage({ fill });
  const file = ({ home }: Stage) => readFile(join(home, "work/ledger/AGENTS.md"), "utf8");

  it("shows the change before it is written, writes it when accepted, and what happened since", async () => {
    const stage = get();
    const { page } = stage;
    await visit(stage, "/projects");
    await page.getByRole("link", { name: "ledger" }).first().click();
    await page.getByRole("button", { name: "Instructions" }).click();
    const proposed = page.getByRole("list", { name: "Proposed lines" });
    await proposed
      .getByText(/npm run check/)
      .first()
      .waitFor();
    const text = await proposed.innerText();
    expect(text).toContain("A command fails first: 6 times in 6 sessions");
    expect(text).toContain("You corrected it: 3 times in 3 sessions");
    expect(text).toMatch(/costs about \d+ tokens at each session's start/);
    expect(text).not.toContain(SECRET);
    const own = proposed
      .getByRole("listitem")
      .filter({ hasText: "Run `npm run check`".replaceAll("`", "") })
      .first();
    await own.getByText("Evidence (6)").click();
    await looksRight(stage, "proposed", () => violations(stage));

    await own.getByRole("button", { name: /^Accept…/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("## Rules from earlier sessions").waitFor();
    expect(await dialog.innerText()).toContain("AGENTS.md");
    expect(await file(stage)).toBe(TEXT);
    await looksRight(stage, "accept", () => violations(stage, "[role=dialog]"));
    await dialog.getByRole("button", { name: "Write the line" }).click();
    const accepted = page.getByRole("list", { name: "Accepted lines" });
    await accepted.getByText("No session has begun since.").waitFor();
    expect(await file(stage)).toMatch(
      /^# Ledger\n\nKeep functions short\.\n\n## Rules from earlier sessions\n\n- .*npm run check/,
    );

    // Later sessions, in one of which the mistake was made again.
    for (const [i, steps] of [slip, saying("thanks"), saying("thanks")].entries())
      await writeFixtures(stage.home, [project("ledger", [steps])], Date.now(), 20 + i);
    await stage.served.kernel.fetch("/api/import", { method: "POST", body: JSON.stringify({ all: true }) });
    await load(stage, page.url().slice(stage.url.length));
    await accepted.getByText("1 time in 3 sessions").waitFor();
    expect(await accepted.innerText()).toMatch(/Before\s+6 times in \d+ sessions/);
    await looksRight(stage, "accepted", () => violations(stage));

    await accepted.getByRole("button", { name: /^Remove/ }).click();
    await accepted.waitFor({ state: "detached" });
    expect(await file(stage)).toBe(TEXT);
    expect(stage.problems()).toEqual([]);
  });

  it("leads to the message that shows the mistake, and proposes a dismissed line no more until it is wanted again", async () => {
    const stage = get();
    const { page } = stage;
    const answer = await stage.served.kernel.fetch("/api/projects?git=0");
    const projects = (await answer.json()) as { id: string; name: string }[];
    const idOf = (name: string) => projects.find((one) => one.name === name)?.id ?? "";
    await visit(stage, `/projects/${idOf("ledger")}?tab=instructions`);
    const proposed = page.getByRole("list", { name: "Proposed lines" });
    const emojis = proposed.getByRole("listitem").filter({ hasText: "emojis" }).first();
    await emojis.getByText("Evidence (3)").click();
    await emojis.getByRole("link").first().click();
    await page.waitForURL(/\/sessions\/.*[?&]m=\d+/);
    await page.goBack();
    await emojis.getByRole("button", { name: /^Dismiss/ }).click();
    await emojis.waitFor({ state: "detached" });
    await load(stage, page.url().slice(stage.url.length));
    await page.getByText("Dismissed lines (1)").click();
    expect(await emojis.count()).toBe(0);
    await looksRight(stage, "dismissed", () => violations(stage));
    await page.getByRole("button", { name: /^Propose again/ }).click();
    await emojis.waitFor();
    await visit(stage, `/projects/${idOf("calm")}?tab=instructions`);
    await page.getByText(/No mistake recurs in the \d+ sessions? that (was|were) read\./).waitFor();
    expect(stage.problems()).toEqual([]);
  });
});
