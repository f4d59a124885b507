/** Who wrote each line of made-up projects, against an oracle. `SESSARC_BLAME_WORLDS=200` makes more of them. */
import { join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import type { Commits, Origins, Receipt } from "../../plugins/blame/index.ts";
import { readAccounts } from "../../plugins/blame/receipt/accounts.ts";
import { defaultPlugins, type UsageReport } from "../../plugins/index.ts";
import { describeGit, tempFolder } from "../git/_repo.ts";
import { makeWorld, type World } from "./_world.ts";

const WORLDS = Number(process.env.SESSARC_BLAME_WORLDS ?? 12);
const FIRST = Number(process.env.SESSARC_BLAME_FIRST ?? 1);

const plugins = [
  "claude-code",
  "codex",
  "cursor",
  "opencode",
  "gemini-cli",
  "copilot",
  "archive",
  "insights",
  "causality",
  "git",
  "blame",
];

async function open(seed: number) {
  const home = tempFolder();
  const root = join(tempFolder(), "project");
  const world = await makeWorld(seed, home, root);
  const entries = defaultPlugins().filter(
    ({ specifier, options }) => options === undefined && plugins.includes(specifier.slice("sessarc/plugins/".length)),
  );
  const loaded = await Promise.all(entries.map(async ({ load }) => (await load?.())?.default));
  const t = await createTestKernel({
    home,
    plugins: loaded.flatMap((make) => (typeof make === "function" ? [make()] : [])),
  });
  await t.send("POST", "/api/import", { all: true });
  const [project] = await t.json<{ id: string }[]>("/api/projects");
  return { t, world, project: project?.id ?? "" };
}

interface Score {
  named: number;
  right: number;
  /** Lines by a person in a commit without a session that were given one. */
  stolen: number;
  intact: number;
  found: number;
}

async function score(world: World, blame: (path: string) => Promise<Origins>, into: Score, misses: string[]) {
  const numberOf = new Map(world.sessions.map(({ id }, i) => [id, i]));
  for (const [path, lines] of world.files) {
    const { lines: rows, writers, commits } = await blame(path);
    expect(rows?.map(({ text }) => text)).toEqual(lines.map(({ text }) => text));
    for (const [i, line] of lines.entries()) {
      const id = writers[rows?.[i]?.writer ?? -1]?.sessionId;
      const who = id === undefined ? undefined : (numberOf.get(id.slice(id.indexOf(":") + 1)) ?? -2);
      if (who !== undefined) {
        into.named++;
        if (who === line.who || line.also.includes(who)) into.right++;
        else misses.push(`${path}:${i + 1} ${rows?.[i]?.evidence} is of ${line.who}, not ${who}: ${line.text}`);
        const subject = commits[rows?.[i]?.commit ?? -1]?.subject ?? "";
        if (line.who < 0 && line.also.length === 0 && world.clean.has(subject)) {
          into.stolen++;
          misses.push(`${path}:${i + 1} a person's, in a commit without a session: ${line.text}`);
        }
      }
      if (line.intact && line.who >= 0 && line.text.trim() !== "") {
        into.intact++;
        if (who === line.who) into.found++;
        else misses.push(`${path}:${i + 1} lost ${line.who}, found ${who}: ${line.text}`);
      }
    }
  }
}

/** All commits and all leftovers are what GET /usage reports, and the shares of a session are its cost. */
async function addsUp(t: Awaited<ReturnType<typeof open>>["t"], project: string) {
  const { commits, leftovers, nextCursor } = await t.json<Commits>(`/api/projects/${project}/commits?limit=1000`);
  expect(nextCursor).toBeNull();
  const sum = (list: readonly { microdollars: number }[]) => list.reduce((all, one) => all + one.microdollars, 0);
  const { totals } = await t.json<UsageReport>(`/api/usage?project=${project}&by=month`);
  expect(totals.cost.microdollars).toBeGreaterThan(0);
  expect(sum(commits) + sum(leftovers)).toBe(totals.cost.microdollars);
  expect(Math.abs(leftovers.find(({ reason }) => reason === "rounding")?.microdollars ?? 0)).toBeLessThan(100);
  let receipts = 0;
  for (const { hash, microdollars } of commits) {
    const { total, sessions } = await t.json<Receipt>(`/api/projects/${project}/receipt?range=${hash}`);
    expect(total.microdollars).toBe(microdollars);
    expect(sum(sessions)).toBe(microdollars);
    expect(sum(sessions.flatMap(({ prompts }) => prompts))).toBe(microdollars);
    receipts += microdollars;
  }
  expect(receipts).toBe(sum(commits));
  const { sessions } = await t.json<{ sessions: { id: string; cost: { microdollars: number } }[] }>(
    "/api/sessions?limit=1000",
  );
  const accounts = await readAccounts(t.kernel, project, (await t.kernel.inject("archive").projectPath(project)) ?? "");
  for (const { id, cost } of sessions)
    expect(sum(accounts.shares.filter(({ session }) => session === id))).toBe(cost.microdollars);
  return { commits, leftovers };
}

describeGit("who wrote a line", () => {
  it(
    `is right in ${WORLDS} made-up projects`,
    async () => {
      const total: Score = { named: 0, right: 0, stolen: 0, intact: 0, found: 0 };
      const misses: string[] = [];
      for (let seed = FIRST; seed < FIRST + WORLDS; seed++) {
        const { t, world, project } = await open(seed);
        const own: string[] = [];
        await score(
          world,
          (path) => t.json<Origins>(`/api/git/blame?${new URLSearchParams({ project, path })}`),
          total,
          own,
        );
        await addsUp(t, project);
        misses.push(...own.map((one) => `${seed} ${one}`));
        await t.close();
      }
      if (process.env.SESSARC_BLAME_SHOW) console.log(total, misses.join("\n"));
      expect(total.intact).toBeGreaterThan(WORLDS * 40);
      expect(total.stolen).toBe(0);
      expect(total.right / total.named).toBeGreaterThanOrEqual(0.995);
      expect(total.found / total.intact).toBeGreaterThanOrEqual(0.95);
    },
    WORLDS * 60_000,
  );
});
