/** `sessarc receipt --hook`: commit messages that name session and assistant, beside a hook that was there. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { builtPackage } from "../built.ts";
import { runCommand } from "../command.ts";
import { describeGit, makeRepo, tempFolder, testEnv } from "../git/_repo.ts";

const KEY = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01";
const LINES = "export const totalOfAllPrices = (first, second) => first.price + second.price;\n";

/** A home that is a repository, with a session that wrote `a.ts` just now. */
async function place() {
  const home = tempFolder();
  const repo = makeRepo(home);
  repo.write(".gitignore", "/.*\n");
  repo.commit("Begin", Math.floor(Date.now() / 1_000) - 3_600);
  repo.write("a.ts", LINES);
  const at = new Date(Date.now() - 60_000).toISOString();
  const row = (type: string, content: unknown, model?: string) => ({
    ...{ type, uuid: `${type}-1`, sessionId: KEY, cwd: repo.root, timestamp: at },
    message: { id: "m1", role: type, content, ...(model && { model }) },
  });
  const input = { file_path: join(repo.root, "a.ts"), content: LINES };
  const rows = [
    row("user", "Write it"),
    row("assistant", [{ type: "tool_use", id: "t1", name: "Write", input }], "claude-haiku-4-5"),
    row("user", [{ type: "tool_result", tool_use_id: "t1", content: "done" }]),
  ];
  const log = join(home, `.claude/projects/-w/${KEY}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, rows.map((one) => `${JSON.stringify(one)}\n`).join(""));
  await runCommand(["import", "--all"], home);
  const hook = join(repo.root, ".git/hooks/prepare-commit-msg");
  mkdirSync(dirname(hook), { recursive: true });
  const commit = (...args: string[]) => {
    execFileSync("git", ["commit", "-q", ...args], { cwd: repo.root, env: { ...testEnv(), HOME: home } });
    return repo.git("log", "-1", "--format=%B").trim();
  };
  return { home, repo, hook, commit, receipt: (...args: string[]) => runCommand(["receipt", ...args], home) };
}

const TRAILER = `Assisted-by: claude-code:claude-haiku-4-5 [session ${KEY}]`;

describeGit("the commit hook", () => {
  beforeAll(() => builtPackage(), 300_000);

  it("names the session in the message of a real commit, and no session where none wrote a line", async () => {
    const { repo, receipt, commit, hook } = await place();
    expect(await receipt("--hook", "install")).toMatchObject({ code: 0 });
    expect(statSync(hook).mode & 0o777).toBe(0o755);
    repo.git("add", "a.ts");
    const message = commit("-m", "Add prices", "-m", "Signed-off-by: Ada <ada@example.org>");
    expect(message).toBe(`Add prices\n\nSigned-off-by: Ada <ada@example.org>\n${TRAILER}`);
    expect(commit("--amend", "--no-edit")).toBe(message);
    repo.write("b.ts", "// typed by a person, and by no session\n");
    repo.git("add", "b.ts");
    expect(commit("-m", "By hand")).toBe("By hand");
    expect(await receipt("--hook", "uninstall")).toMatchObject({ code: 0 });
    expect(existsSync(hook)).toBe(false);
  });

  it("runs the hook that was there, and gives it back byte for byte", async () => {
    const { repo, hook, receipt, commit } = await place();
    const former = '#!/usr/bin/env bash\r\n# ours\nprintf "Ticket: 12\\n" >> "$1"';
    writeFileSync(hook, former.replace("\r", ""));
    chmodSync(hook, 0o750);
    const before = readFileSync(hook);
    const installed = await receipt("--hook", "install", "--json");
    const { backupPath } = JSON.parse(installed.stdout) as { backupPath: string };
    expect(readFileSync(backupPath)).toEqual(before);
    await receipt("--hook", "install");
    expect(readFileSync(hook, "utf8").match(/# sessarc/g)).toHaveLength(1);
    repo.git("add", "a.ts");
    const message = commit("-m", "Add prices");
    expect(message).toContain(TRAILER);
    expect(message).toContain("Ticket: 12");
    await receipt("--hook", "uninstall");
    expect(readFileSync(hook)).toEqual(before);
    expect(statSync(hook).mode & 0o777).toBe(0o750);
    expect(await receipt("--hook", "uninstall")).toMatchObject({ code: 3 });
    // Changed meanwhile: only our line goes.
    await receipt("--hook", "install");
    writeFileSync(hook, `${readFileSync(hook, "utf8")}\necho later >/dev/null\n`);
    await receipt("--hook", "uninstall");
    expect(readFileSync(hook, "utf8")).toBe(`${before}\necho later >/dev/null\n`);
  });

  it("changes no hook that git does not run or that has another interpreter than a shell", async () => {
    const { hook, receipt } = await place();
    for (const [text, mode] of [
      ["#!/usr/bin/env python3\nprint()\n", 0o755],
      ["#!/bin/sh\n", 0o644],
    ] as const) {
      writeFileSync(hook, text);
      chmodSync(hook, mode);
      const { code, stderr } = await receipt("--hook", "install");
      expect(code).not.toBe(0);
      expect(stderr).toContain("executable shell script");
      expect(readFileSync(hook, "utf8")).toBe(text);
    }
    expect((await receipt("--hook", "neither")).code).toBe(2);
  });
});
