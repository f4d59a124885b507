/** `sessarc blame` over a real repository, and the same through the hub's tool. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import type { LineOrigins, Receipt } from "../../plugins/blame/index.ts";
import { defaultPlugins } from "../../plugins/index.ts";
import { runCommand } from "../command.ts";
import { describeGit, makeRepo, T0, tempFolder } from "../git/_repo.ts";
import { letters } from "../security/_samples.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0a";
const ID = `claude-code:${KEY}`;
const SHORT = KEY.slice(0, 8);
const MODEL = "claude-opus-4-5-20251101";

function place(prompt = "Add the sum, please") {
  const home = tempFolder();
  const repo = makeRepo(join(home, "app"));
  repo.write("a.ts", "// by hand\n");
  repo.commit("Begin", T0);
  const row = (seconds: number, type: string, content: unknown) => ({
    ...{ type, uuid: `${type}${seconds}`, sessionId: KEY, cwd: repo.root, requestId: `r${seconds}` },
    timestamp: new Date((T0 + seconds) * 1000).toISOString(),
    message: { id: `m${seconds}`, role: type, model: MODEL, content, usage: { input_tokens: 100, output_tokens: 50 } },
  });
  const call = (seconds: number, name: string, input: object) => [
    row(seconds, "assistant", [{ type: "tool_use", id: `t${seconds}`, name, input }]),
    row(seconds + 1, "user", [{ type: "tool_result", tool_use_id: `t${seconds}`, content: "done" }]),
  ];
  const log = join(home, ".claude/projects/-w", `${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  const say = (rows: readonly object[]) => appendFileSync(log, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  writeFileSync(log, "");
  say([
    row(1, "user", prompt),
    ...call(2, "Read", { file_path: join(repo.root, "a.ts") }),
    ...call(5, "Edit", {
      file_path: join(repo.root, "a.ts"),
      old_string: "// by hand",
      new_string: "// by hand\nexport const sum = (a: number, b: number) => a + b;",
    }),
  ]);
  repo.write("a.ts", "// by hand\nexport const sum = (a: number, b: number) => a + b;\n");
  repo.commit("Sum", T0 + 20);
  return { home, repo, say, call, row, file: join(repo.root, "a.ts") };
}

describeGit("sessarc blame for an assistant", () => {
  it("masks secrets in prompts, also one at the cut", async () => {
    const token = `ghp_${letters(36, 5)}`;
    const { home, file } = place(`Use ${token} ${"x ".repeat(970)}${token}`);
    await runCommand(["import", "--all"], home);
    const raw = await runCommand(["blame", file, "--json"], home);
    expect(raw.stdout).toContain(token);
    for (const args of [["--json"], []]) {
      const { stdout } = await runCommand(["blame", file, "--redacted", ...args], home);
      expect(stdout).toMatch(/prompt/i);
      for (let at = 4; at + 8 <= token.length; at += 4) expect(stdout).not.toContain(token.slice(at, at + 8));
    }
  });
});

describeGit("sessarc blame of a short reply", () => {
  it("names what it answers, with its secrets masked for an assistant", async () => {
    const token = `ghp_${letters(36, 5)}`;
    const { home, say, call, row, repo, file } = place();
    say([
      row(30, "assistant", [{ type: "text", text: `The sum is there.\n\nShall I add ${token} too?` }]),
      row(31, "user", "Yes."),
      ...call(32, "Edit", { file_path: file, old_string: "// by hand", new_string: "// by the assistant, as asked" }),
    ]);
    repo.write("a.ts", "// by the assistant, as asked\nexport const sum = (a: number, b: number) => a + b;\n");
    repo.commit("Said", T0 + 60);
    await runCommand(["import", "--all"], home);
    const run = async (...args: string[]) => (await runCommand(["blame", `${file}:1`, ...args], home)).stdout;
    expect(await run()).toMatch(/Prompt.*: Yes\.\n {3}In reply to: Shall I add ghp_\w{36} too\?/);
    expect(await run("--redacted")).toMatch(/In reply to: Shall I add \S*•+ too\?/);
    expect(await run("--redacted", "--json")).not.toContain(token);
  });
});

describeGit("sessarc receipt", () => {
  it("prints what a commit cost: text, JSON, and Markdown with nothing private in it", async () => {
    const { home, repo } = place();
    await runCommand(["import", "--all"], home);
    const run = (...args: string[]) => runCommand(["receipt", "--project", join(repo.root), ...args], home);
    const { code, stdout } = await run();
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(
        /^Last commit: about <?\$0\.\d+, \d+ tokens, \d+ min of work\n1 commit with lines of 1 session\n/,
      ),
    ]);
    expect(stdout).toContain(` ${SHORT}\n`);
    expect(stdout).toMatch(/1 +<?\$0\.\d+ +still there/);
    const receipt = JSON.parse((await run("HEAD", "--json")).stdout) as Receipt;
    expect(receipt.commits.map(({ subject }) => subject)).toEqual(["Sum"]);
    expect(receipt.total.microdollars).toBe(receipt.projectMicrodollars);
    expect(receipt.sessions[0]?.prompts.map(({ seq }) => seq)).toEqual([0]);
    const plain = (await run("HEAD~1..HEAD", "--format", "md")).stdout;
    expect(plain).toContain("| still there | 1 | <$0.01 |");
    for (const secret of [KEY, "Add the sum", repo.root, "a.ts"]) expect(plain).not.toContain(secret);
    const open = (await run("main", "--format", "md", "--titles", "--prompts")).stdout;
    expect(open).toMatch(/- <?\$0\.\d+ claude-code: Add the sum, please\n {2}- <?\$0\.\d+: Add the sum, please/);
    expect((await run("HEAD~1")).stdout).toContain("$0.00");
    expect((await run("nowhere")).code).toBe(3);
    expect((await run("--", "-x")).code).toBe(3);
    expect((await runCommand(["receipt", "--project", join(home, "none")], home)).code).not.toBe(0);
  });
});

describeGit("sessarc receipt for an assistant", () => {
  it("masks secrets in titles and prompts, and reports so", async () => {
    const token = `ghp_${letters(36, 5)}`;
    const { home, repo } = place(`Use ${token} for it`);
    await runCommand(["import", "--all"], home);
    const run = (args: string[], env?: Record<string, string>) =>
      runCommand(["receipt", "--project", repo.root, ...args], home, env);
    const forms = [[], ["--json"], ["--format", "md", "--titles", "--prompts"]];
    expect((await run([])).stdout).toContain(token.slice(0, 12));
    for (const form of forms)
      for (const [args, env] of [[["--redacted"]], [[], { CLAUDECODE: "1" }]] as const) {
        const { stdout, stderr } = await run([...form, ...args], env);
        expect(stdout).toContain("Use ");
        for (let at = 4; at + 8 <= token.length; at += 4) expect(stdout).not.toContain(token.slice(at, at + 8));
        expect(stderr.includes("Secrets are masked")).toBe(env !== undefined);
      }
    expect((await run(["--json", "--raw"], { CLAUDECODE: "1" })).stdout).toContain(token);
  });
});

describeGit("sessarc notes", () => {
  it("writes a note for each commit with lines of a session, and reads those of git-ai", async () => {
    const { home, repo, file } = place();
    await runCommand(["import", "--all"], home);
    const write = (...args: string[]) => runCommand(["notes", "write", "--project", repo.root, ...args], home);
    const before = repo.git("rev-parse", "HEAD");
    expect((await write("main")).stdout).toMatch(/^1 note under refs\/notes\/ai/);
    const note = repo.git("notes", "--ref=ai", "show", "HEAD");
    expect(note).toMatch(/^a\.ts\n {2}[0-9a-f]{16} 2\n---\n/);
    expect(note).toMatch(/"microdollars": "\d+"/);
    expect(note).not.toContain("Add the sum");
    await write("HEAD", "--prompts");
    expect(repo.git("notes", "--ref=ai", "show", "HEAD")).toContain('"text": "Add the sum, please"');
    expect([repo.git("rev-parse", "HEAD"), repo.git("status", "--porcelain")]).toEqual([before, ""]);
    const remote = join(home, "remote.git");
    repo.git("init", "-q", "--bare", remote);
    repo.git("remote", "add", "origin", remote);
    const pushed = await write("HEAD", "--push");
    expect([pushed.code, pushed.stderr]).toEqual([0, expect.stringContaining("Pushed to origin")]);
    expect(repo.git("ls-remote", remote)).toContain("refs/notes/ai");
    repo.git("remote", "set-url", "origin", join(home, "nowhere.git"));
    expect(await write("HEAD", "--push")).toMatchObject({ code: 1, stderr: expect.stringContaining("could not push") });
    const trace = await runCommand(["blame", file, "--format", "agent-trace"], home);
    expect(JSON.parse(trace.stdout).files[0].conversations[0].ranges).toEqual([{ start_line: 2, end_line: 2 }]);
    expect((await write("HEAD~1")).code).toBe(3);
    expect((await runCommand(["notes", "push"], home)).code).toBe(2);
    const standard = {
      ...{ schema_version: "authorship/3.0.0", base_commit_sha: "0" },
      prompts: { abcd1234abcd1234: { agent_id: { tool: "cursor", id: "c1", model: "sonnet-4.5" } } },
    };
    repo.git(
      "notes",
      "--ref=ai",
      "add",
      "-m",
      `a.ts\n  abcd1234abcd1234 1\n---\n${JSON.stringify(standard)}`,
      "HEAD~1",
    );
    const { lines } = JSON.parse((await runCommand(["blame", file, "--json"], home)).stdout) as LineOrigins;
    expect(lines?.map(({ noted }) => noted)).toEqual([{ tool: "cursor", model: "sonnet-4.5", session: "c1" }, null]);
    expect((await runCommand(["blame", file], home)).stdout).toContain("·  a note of git-ai names cursor sonnet-4.5");
  });
});

describeGit("sessarc blame", () => {
  it("names session, prompt, call, model, price and the reads of a line, or nobody", async () => {
    const { home, file } = place();
    expect((await runCommand(["import", "--all"], home)).code).toBe(0);
    const { code, stdout } = await runCommand(["blame", `${file}:1-2`], home);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^· {2}1 {2}\/\/ by hand\nA {2}2 {2}export const sum/);
    expect(stdout).toMatch(/\nA {2}Add the sum, please\n {3}\S.* · /);
    expect(stdout).toContain(` · ${MODEL} · Edit in message 3 · sessarc show ${SHORT}#3\n`);
    expect(stdout).toMatch(/ {3}Prompt \(<?\$0\.0\d+\): Add the sum, please\n/);
    expect(stdout).toContain("Because of message 1, Read: ");
    expect(stdout).toContain("·  written by no archived session (1 line)");
    const before = await runCommand(["blame", file, "--at", "HEAD~1", "--json"], home);
    const answer = JSON.parse(before.stdout) as LineOrigins;
    expect(answer.lines).toHaveLength(1);
    expect(answer.writers).toEqual([]);
    expect((await runCommand(["blame", `${file}:9`], home)).code).toBe(3);
    for (const [args, problem] of [
      [["blame", join(home, "none/b.ts")], 1],
      [["blame", file, "--at=-x"], 3],
      [["blame", file, "--at", "nowhere"], 3],
      [["blame", `${file}:0`], 2],
      [["blame"], 2],
    ] as const)
      expect((await runCommand(args, home)).code, args.join(" ")).toBe(problem);
  });

  it("prints what git blame --porcelain prints, with headers of the writer", async () => {
    const { home, repo, file } = place();
    await runCommand(["import", "--all"], home);
    const { stdout } = await runCommand(["blame", file, "--porcelain"], home);
    const rows = stdout.trimEnd().split("\n");
    expect(rows.filter((row) => row.startsWith("sessarc-"))).toEqual([
      ...[`sessarc-session ${ID}`, "sessarc-seq 3", "sessarc-tool Edit", "sessarc-evidence line"],
      ...[`sessarc-model ${MODEL}`, "sessarc-prompt 0", expect.stringMatching(/^sessarc-prompt-microdollars \d+$/)],
    ]);
    const plain = repo.git("blame", "--porcelain", "-w", "a.ts").split("\n");
    expect(rows.filter((row) => !row.startsWith("sessarc-"))).toEqual(plain);
  });

  it("goes on with a session that grew, a call of it open in between, and answers the hub's who_wrote", async () => {
    const { home, repo, say, call, file } = place();
    const [ask, result] = call(30, "Edit", {
      file_path: file,
      old_string: "// by hand",
      new_string: "// by hand\nexport const product = (a: number, b: number) => a * b;",
    });
    say([ask as object]);
    const t = await createTestKernel({ home, plugins: defaultPlugins() });
    await t.send("POST", "/api/import", { all: true });
    say([result as object]);
    await t.send("POST", "/api/sync?wait=1");
    repo.write("a.ts", "// by hand\nexport const product = (a: number, b: number) => a * b;\n");
    repo.commit("Product", T0 + 60);
    const rows = await t.kernel.storage.db.all<{ calls: string }>("select calls from blame_file");
    expect(rows.map(({ calls }) => (JSON.parse(calls) as [number][]).map(([seq]) => seq))).toEqual([[3, 5]]);
    const { body } = await t.send<{ content: { text: string }[] }>("POST", "/api/mcp/call", {
      name: "sessarc__who_wrote",
      arguments: { file, line: 2 },
    });
    const text = JSON.stringify(body);
    expect(text).toContain(`[${ID} #5] Edit`);
    expect(text).toContain("Add the sum, please");
    await t.close();
  });
});

describeGit("sessarc verify", () => {
  it("prints who wrote a range for people, pull requests and programs, and checks what it signed", async () => {
    const { home, repo } = place();
    const token = `ghp_${letters(36, 7)}`;
    repo.write("b.ts", `const token = "${token}";\n`);
    repo.commit("Oops", T0 + 60);
    await runCommand(["import", "--all"], home);
    const run = (...args: string[]) => runCommand(["verify", "--project", repo.root, ...args], home);
    const plain = await run("main");
    expect(plain.stdout).toMatch(/^3 commits, 3 added lines: 33 % by assistants/);
    expect(plain.stdout).toMatch(/1 secret in added lines\n {2}b\.ts:1 /);
    expect(plain.stdout).not.toContain(token.slice(4, 14));
    expect(plain.code).toBe(0);
    const md = await run("main", "--format", "md");
    expect(md.stdout).toContain("| assistant | models | lines | cost | tests | types |");
    expect(md.stdout).not.toContain("Add the sum");
    const sarif = JSON.parse((await run("main", "--format", "sarif")).stdout);
    expect(sarif.runs[0].results[0].locations[0].physicalLocation).toEqual({
      artifactLocation: { uri: "b.ts" },
      region: { startLine: 1 },
    });
    writeFileSync(
      join(home, "sessarc.config.mjs"),
      'export default { verify: { secrets: "fail", unknown: 0.2, tests: "required" } };',
    );
    const strict = await run("main", "--config", join(home, "sessarc.config.mjs"));
    expect(strict.code).toBe(1);
    expect(strict.stdout).toContain("1 secret is in added lines");
    expect(strict.stdout).toContain("Nothing says who wrote 33 % of the added lines; 20 % are allowed");
    expect(strict.stdout).toContain(`Session ${ID} ran no tests`);
    const signed = join(home, "verify.json");
    const { stdout } = await run("main", "--format", "in-toto");
    writeFileSync(signed, stdout);
    const check = () => runCommand(["verify", "--check", signed], home);
    expect(await check()).toMatchObject({ code: 0, stdout: expect.stringContaining("Valid: 3 commits") });
    writeFileSync(signed, stdout.replace(/"payload":"(.{40})./, '"payload":"$1_'));
    expect(await check()).toMatchObject({ code: 1, stderr: expect.stringContaining("not valid") });
    expect((await run("nowhere")).code).toBe(3);
  });
});
