/** GET /usage by branch and by work tree, and `sessarc usage branch`. */
import { execFileSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import git from "../../plugins/git/index.ts";
import insights from "../../plugins/insights/index.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { testEnv } from "../git/_repo.ts";

interface Report {
  rows: { key: string; label: string | null; sessions: number; tokens: { output: number } }[];
  totals: { sessions: number; tokens: { output: number } };
}

/** A session with one reply: `output` tokens, in a folder, on a branch. */
async function write(
  home: string,
  n: number,
  cwd: string,
  gitBranch: string | undefined,
  output: number,
): Promise<void> {
  const id = `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${n}`;
  const file = join(home, `.claude/projects/${cwd.replaceAll(/[^\w]/g, "-")}/${id}.jsonl`);
  const row = {
    ...{ type: "assistant", uuid: `u${n}`, sessionId: id, cwd, gitBranch, requestId: `r${n}` },
    timestamp: `2026-11-0${n}T10:00:00Z`,
    message: {
      ...{ id: `m${n}`, role: "assistant", model: "claude-haiku-4-5", content: [{ type: "text", text: "…" }] },
      usage: { input_tokens: 1, output_tokens: output },
    },
  };
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(row)}\n`);
}

async function writeAll(home: string) {
  const app = join(home, "code/app");
  const other = join(home, "code/other");
  await mkdir(join(app, "src"), { recursive: true });
  await mkdir(other, { recursive: true });
  execFileSync("git", ["init", "-q", "-b", "main", app], { env: testEnv() });
  await write(home, 1, app, "main", 1);
  await write(home, 2, join(app, "src"), "feat/a:b", 10);
  await write(home, 3, join(app, ".claude/worktrees/quick-fox"), "feat/a:b", 100);
  await write(home, 4, join(app, ".claude/worktrees/quick-fox/src"), undefined, 1_000);
  await write(home, 5, other, "main", 10_000);
  return { app, other };
}

it("adds up by branch of a project, and by work tree", async () => {
  const t = await createTestKernel({ plugins: [archive(), insights(), claude(), git()] });
  const { app, other } = await writeAll(t.home);
  await t.send("POST", "/api/import", { all: true });
  const usage = (query: string) => t.json<Report>(`/api/usage?tz=UTC&${query}`);
  const short = ({ rows }: Report) =>
    rows.map(({ label, key, sessions, tokens }) => [label ?? key, sessions, tokens.output]);
  const byBranch = await usage("by=branch");
  expect(short(byBranch)).toEqual([
    ["other: main", 1, 10_000],
    ["app: —", 1, 1_000],
    ["app: feat/a:b", 2, 110],
    ["app: main", 1, 1],
  ]);
  expect(byBranch.totals).toMatchObject({ sessions: 5, tokens: { output: 11_111 } });
  expect(byBranch.rows.map(({ key }) => key.replace(/^\w{12}:/, ""))).toEqual(["main", "", "feat/a:b", "main"]);
  expect(short(await usage("by=worktree"))).toEqual([
    [other, 1, 10_000],
    [join(app, ".claude/worktrees/quick-fox"), 2, 1_100],
    [app, 2, 11],
  ]);
  // A range, and a project.
  expect(short(await usage("by=branch&from=2026-11-02&to=2026-11-03"))).toEqual([["app: feat/a:b", 2, 110]]);
  expect(short(await usage("by=worktree&project=app&from=2026-11-04"))).toEqual([
    [join(app, ".claude/worktrees/quick-fox"), 1, 1_000],
  ]);
});

it("is a table of the command, also of the logs alone", async () => {
  const home = await makeTempDir();
  await writeAll(home);
  for (const flags of [["--stateless"], []]) {
    if (flags.length === 0) await runCommand(["import", "--all"], home);
    const { stdout, code } = await runCommand(["usage", "branch", ...flags], home);
    expect(code).toBe(0);
    expect(stdout).toMatch(/app: feat\/a:b +2 /);
    expect((await runCommand(["usage", "worktree", "--json", ...flags], home)).stdout).toContain("quick-fox");
  }
});
