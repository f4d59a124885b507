/** The commit of a moment inside of git's whole seconds, and of commits that were rewritten since: by parents, by the session's log. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTestKernel, type TestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import type { CommitAt } from "../../plugins/git/index.ts";
import git from "../../plugins/git/index.ts";
import replay from "../../plugins/replay/index.ts";
import { describeGit, iso, makeRepo, openGit, type Repo, T0, tempFolder } from "./_repo.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
const hashOf = ({ commit }: CommitAt) => commit?.hash;

interface Call {
  tool: string;
  input: object;
  result: string;
  failed?: boolean;
  /** ms since T0. */
  at: number;
}
const bash = (at: number, command: string, result = ""): Call => ({ tool: "Bash", input: { command }, result, at });
const read = (at: number, file_path: string, text: string): Call => ({
  ...{ tool: "Read", input: { file_path }, at },
  result: text
    .split("\n")
    .map((line, i) => `${i + 1}→${line}`)
    .join("\n"),
});

/** A kernel with one session of Claude Code in the repository: seq 0 is the prompt, then call and result of each. */
async function session(repo: Repo, calls: readonly Call[], begun = 0) {
  const home = tempFolder();
  const row = (n: number, at: number, type: string, message: object) =>
    `${JSON.stringify({ type, uuid: `u${n}`, sessionId: KEY, cwd: repo.root, timestamp: iso(T0, at), message })}\n`;
  const lines = calls.flatMap(({ tool, input, result, failed = false, at }, i) => [
    row(2 * i + 1, at, "assistant", {
      ...{ id: `m${i}`, role: "assistant", model: "m" },
      content: [{ type: "tool_use", id: `t${i}`, name: tool, input }],
    }),
    row(2 * i + 2, at + 1, "user", {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: `t${i}`, content: result, is_error: failed }],
    }),
  ]);
  const log = join(home, ".claude/projects/-w", `${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, row(0, begun, "user", { role: "user", content: "Go" }) + lines.join(""));
  const t: TestKernel = await createTestKernel({ home, plugins: [archive(), git(), replay(), claude()] });
  await t.send("POST", "/api/import", { all: true });
  const [project] = await t.json<{ id: string }[]>("/api/projects");
  const at = (ms: number, seq?: number) => {
    const query = { project: project?.id ?? "", ts: iso(T0, ms), session: `claude-code:${KEY}` };
    return t.json<CommitAt>(
      `/api/git/at?${new URLSearchParams({ ...query, ...(seq !== undefined && { seq: `${seq}` }) })}`,
    );
  };
  return { t, at };
}

describeGit("moments inside of a second", () => {
  it("names the newest by parents of commits of one second, says which others it may have been, and which came after", async () => {
    const repo = makeRepo();
    const first = repo.commit("one", T0);
    const second = repo.commit("two", T0 + 10);
    const third = repo.commit("three", T0 + 10);
    const service = openGit();
    const inside = await service.commitAt(repo.root, iso(T0 + 10, 400));
    expect(inside).toMatchObject({ commit: { hash: third }, evidence: "time", dirtyUnknown: true });
    expect(inside.others.map((one) => one.hash)).toEqual([second, first]);
    const stamp = await service.commitAt(repo.root, iso(T0 + 10));
    expect(stamp).toMatchObject({ commit: { hash: third }, dirtyUnknown: true, others: [{ hash: second }] });
    expect(await service.commitAt(repo.root, iso(T0 + 11, 1))).toMatchObject({ commit: { hash: third }, others: [] });
    expect(await service.commitAfter(repo.root, iso(T0 + 9))).toMatchObject({ hash: second });
  });

  it("takes a branch that was merged with --no-ff for newer than what it came from, in whatever order git lists them", async () => {
    const repo = makeRepo();
    const base = repo.commit("base", T0);
    repo.git("checkout", "-q", "-b", "topic");
    const topic = repo.commit("topic", T0);
    repo.git("checkout", "-q", "main");
    repo.commit("unrelated", T0 + 60);
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic");
    const answer = await openGit().commitAt(repo.root, iso(T0));
    expect([hashOf(answer), answer.others.map((one) => one.hash)]).toEqual([topic, [base]]);
  });

  it("knows by the log whether a message is before or after the commit of its own second", async () => {
    const repo = makeRepo();
    repo.write("a.txt", "one\n");
    const first = repo.commit("one", T0 - 60);
    repo.write("a.txt", "two\n");
    const second = repo.commit("two", T0 + 5);
    const third = repo.commit("three", T0 + 5);
    const made = (hash: string) => `[main ${hash.slice(0, 7)}] subject\n 1 file changed`;
    const { at } = await session(repo, [
      bash(5_100, "git commit -qam two", made(second)),
      bash(5_300, "ls", "a.txt"),
      // As Gemini CLI logs it.
      bash(5_500, "git commit -m three", `Output: ${made(third)}`),
    ]);
    const seen: [number, string, string][] = [];
    for (let seq = 0; seq <= 6; seq++) {
      const answer = await at(seq === 0 ? 5_000 : 5_099 + seq * 100, seq);
      expect(answer.others).toEqual([]);
      seen.push([seq, hashOf(answer) ?? "", answer.evidence]);
    }
    expect(seen.map(([, hash]) => hash)).toEqual([first, first, second, second, second, second, third]);
    expect(new Set(seen.map(([, , evidence]) => evidence))).toEqual(new Set(["commits"]));
  });

  it("lets what was read or edited decide between two commits, and is undecided where both hold it", async () => {
    const repo = makeRepo();
    repo.write("a.txt", "one\nsame\n");
    repo.write("b.txt", "alike\n");
    const first = repo.commit("one", T0 - 60);
    repo.write("a.txt", "two\nsame\n");
    const second = repo.commit("two", T0 + 5);
    const file = join(repo.root, "a.txt");
    const edit = { file_path: "a.txt", old_string: "one", new_string: "two" };
    const { at } = await session(repo, [
      read(5_100, join(repo.root, "b.txt"), "alike\n"),
      read(5_200, file, "one\nsame\n"),
      { tool: "Edit", input: { ...edit, new_string: "never" }, result: "no", failed: true, at: 5_300 },
      { tool: "Edit", input: edit, result: "ok", at: 5_400 },
    ]);
    const undecided = await at(5_101, 2);
    expect([hashOf(undecided), undecided.evidence, undecided.others.map((one) => one.hash)]).toEqual([
      ...[second, "time"],
      [first],
    ]);
    for (const seq of [4, 6]) {
      expect(await at(5_350, seq)).toMatchObject({ commit: { hash: first }, evidence: "content", others: [] });
    }
    expect(await at(5_450, 8)).toMatchObject({ commit: { hash: second }, evidence: "content" });
  });

  it("shows the commit a session made though it was amended or rebased since, as long as git has it", async () => {
    const repo = makeRepo();
    repo.write("a.txt", "one\n");
    const first = repo.commit("one", T0 - 60);
    repo.write("a.txt", "two\n");
    const own = repo.commit("two", T0 + 5);
    repo.write("a.txt", "two, amended\n");
    const amended = repo.commit("two", T0 + 900, "--amend");
    const { at } = await session(repo, [bash(5_100, "git commit -am two", `[main ${own.slice(0, 8)}] two`)]);
    expect(await at(0, 0)).toMatchObject({ commit: { hash: first }, others: [] });
    expect(await at(60_000, 2)).toMatchObject({ commit: { hash: own }, evidence: "commits", others: [] });
    repo.git("reflog", "expire", "--expire=now", "--all");
    repo.git("gc", "-q", "--prune=now");
    expect(await at(60_000, 2)).toMatchObject({ commit: { hash: first } });
    expect(await at(901_000, 2)).toMatchObject({ commit: { hash: amended } });
  });

  it("takes no hash for a commit of the session that another tool showed, or that git does not know", async () => {
    const repo = makeRepo();
    const first = repo.commit("one", T0 - 60);
    const second = repo.commit("two", T0 + 5);
    const { at } = await session(repo, [
      read(5_100, join(repo.root, "notes.md"), `[main ${second.slice(0, 7)}] two`),
      bash(5_200, "git commit -m x", "[main 0123456789] x"),
    ]);
    const answer = await at(5_150, 0);
    expect([hashOf(answer), answer.others.map((one) => one.hash)]).toEqual([second, [first]]);
    expect(await at(60_000, 4)).toMatchObject({ commit: { hash: second }, evidence: "time" });
  });

  it("seeds a replay from before the session's own commit, though both began in one second", async () => {
    const repo = makeRepo();
    repo.write("a.txt", "one\n");
    const first = repo.commit("one", T0 - 60);
    repo.write("a.txt", "two\n");
    const own = repo.commit("two", T0);
    const { t } = await session(repo, [
      { tool: "Write", input: { file_path: join(repo.root, "a.txt"), content: "two\n" }, result: "ok", at: 200 },
      bash(500, "git commit -am two", `[main ${own.slice(0, 7)}] two`),
    ]);
    const plan = await t.json<{ base: { commit: string } }>(`/api/sessions/claude-code:${KEY}/replay-plan`);
    expect(plan.base.commit).toBe(first);
  });
});
