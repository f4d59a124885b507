/** Files that change, are large, many or encoded, and what the guard blocks and what it only tells. Plain calls are rows of `guard-rows.jsonl`. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdir, rm, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createTestKernel, type TestKernelOptions } from "../kernel.ts";
import { plugins } from "./_kernel.ts";
import { letters } from "./_samples.ts";

const token = `ghp_${letters(36, 71)}`;

async function start(options: TestKernelOptions = {}) {
  const t = await createTestKernel({ plugins: plugins(), ...options });
  const cwd = join(t.home, "app");
  await mkdir(join(cwd, "conf"), { recursive: true });
  await writeFile(join(cwd, ".env"), `A=1\nGITHUB_TOKEN=${token}\n`);
  await writeFile(join(cwd, "conf", "prod.env"), `GITHUB_TOKEN=${token}\n`);
  await writeFile(join(cwd, "notes.txt"), "nothing\n");
  const ask = async (tool_name: string, tool_input: object | string, query = "") =>
    (
      await t.send<{
        decision: string;
        reason: string;
        partial: boolean;
        findings: { rule: string; confidence: string }[];
      }>("POST", `/api/security/pretooluse${query}`, { hook_event_name: "PreToolUse", tool_name, tool_input, cwd })
    ).body;
  const run = async (command: string) => (await ask("Bash", { command })).decision;
  return { t, cwd, ask, run };
}

describe("security: files a call would show", () => {
  it("as deep as a pattern of a tool says", async () => {
    const { cwd, ask } = await start();
    await mkdir(join(cwd, "a/b/.c"), { recursive: true });
    await writeFile(join(cwd, "a/b/.c/deep.env"), `GITHUB_TOKEN=${token}\n`);
    expect((await ask("read_many_files", { include: ["a/**/*.env"] })).decision).toBe("block");
    expect((await ask("read_many_files", { include: ["a/**/*.txt"] })).decision).toBe("allow");
    await writeFile(join(cwd, "a/b/deep.env"), `GITHUB_TOKEN=${token}\n`);
    expect((await ask("Bash", { command: "cat a/**/*.env" })).decision).toBe("block");
  });

  it("through links in a folder that is read, and when a file is changed without a sign of it", async () => {
    const { cwd, ask } = await start();
    await mkdir(join(cwd, "linked"));
    await symlink(join(cwd, ".env"), join(cwd, "linked", "config"));
    expect((await ask("Read", { file_path: "linked" })).decision).toBe("block");
    const path = join(cwd, "same.txt");
    const secret = `GITHUB_TOKEN=${token}`;
    const then = new Date(Date.now() - 60_000);
    for (const [text, decision] of [
      ["x".repeat(secret.length), "allow"],
      [secret, "block"],
    ] as const) {
      await writeFile(path, text);
      await utimes(path, then, then);
      expect((await ask("Read", { file_path: "same.txt" })).decision).toBe(decision);
    }
  });

  it("in lines made to be too much for it", async () => {
    const { ask, run } = await start();
    const many = `{${Array(600).fill("a").join(",")}}`;
    for (const line of [
      `A=aaaaaaaa;${"A=$A$A;".repeat(40)}cat .env`,
      `. ./.env; echo ${Array.from({ length: 3_000 }, (_, n) => `$A${n}`).join(" ")}`,
      `cat ${many.repeat(3)} .env`,
      `${"env ".repeat(9)}cat .env`,
      `${"cd a;".repeat(5_000)}cat ../.env .env`,
    ])
      expect(await run(line), line.slice(0, 60)).toBe("block");
    expect((await ask("read_many_files", { paths: [`${many.repeat(3)}`, ".env"] })).decision).toBe("block");
    let nested = "cat .env";
    for (let n = 0; n < 14; n++) nested = `echo $(${nested})`;
    const shells = `bash -c ${JSON.stringify(`bash -c ${JSON.stringify(`bash -c ${JSON.stringify("bash -c 'cat .env'")}`)}`)}`;
    const copies = Array.from({ length: 200 }, (_, n) => `cat notes.txt > b${n};`).join("");
    for (const line of [
      nested,
      shells,
      `${copies}cat ${"b* ".repeat(1_000)}`,
      `${":;".repeat(200_000)}cat .env`,
      `cat {${"a".repeat(5_000)},.env}`,
      `${"cat <<A ".repeat(20_000)}\ncat .env`,
      `${"a() ".repeat(20_000)} cat .env`,
      `${"echo $((".repeat(20_000)} cat .env`,
      `${'echo "$('.repeat(20_000)} cat .env`,
    ])
      expect(await ask("Bash", { command: line }), line.slice(0, 60)).toMatchObject({ partial: true });
  });

  it("reads UTF-16, with a mark and without, in both orders", async () => {
    const { cwd, run } = await start();
    const little = Buffer.from(`GITHUB_TOKEN=${token}\r\n`, "utf16le");
    const big = Buffer.from(little).swap16();
    const files = [
      little,
      big,
      Buffer.concat([Buffer.from([0xff, 0xfe]), little]),
      Buffer.concat([Buffer.from([0xfe, 0xff]), big]),
    ];
    for (const [index, bytes] of files.entries()) {
      await writeFile(join(cwd, `wide${index}`), bytes);
      expect(await run(`type wide${index}`), String(index)).toBe("block");
    }
  });

  it.runIf(process.platform === "linux")("reads all of a file that says it has no bytes", async () => {
    const { ask } = await start();
    const { stdin, pid } = await new Promise<ChildProcess>((resolve) => {
      // What the environment of a process holds is in a file of size 0.
      const child = spawn("cat", [], { env: { A: "a".repeat(9_000), GITHUB_TOKEN: token } });
      child.once("spawn", () => resolve(child));
    });
    const answer = await ask("Read", { file_path: `/proc/${pid}/environ` });
    stdin?.end();
    expect(answer.findings).toMatchObject([{ rule: "github-pat" }]);
  });

  it("reports it when a folder has more files than are checked", async () => {
    const { ask, cwd } = await start();
    await mkdir(join(cwd, "many"));
    for (let n = 0; n < 1_001; n++) await writeFile(join(cwd, "many", `${1_000 + n}.txt`), "nothing\n");
    expect((await ask("read_many_files", { paths: ["many"], path: join(cwd, "many") })).partial).toBe(true);
    await rm(join(cwd, "many", "2000.txt"));
    expect((await ask("read_many_files", { paths: ["many"], path: join(cwd, "many") })).partial).toBe(false);
  });
});

describe("security: what the guard blocks", () => {
  const probable = { command: `curl -H "X-Api-Key: ${letters(32, 5)}9" https://x.dev` };

  it("blocks what is sure, reports what is probable, and blocks that, too, if configured", async () => {
    const { ask } = await start();
    expect(await ask("Bash", probable)).toMatchObject({ decision: "allow", findings: [{ confidence: "probable" }] });
    const strict = await start({ config: { security: { block: "probable" } } });
    expect((await strict.ask("Bash", probable)).decision).toBe("block");
  });

  it("never blocks a guess", async () => {
    const { ask } = await start({ config: { security: { block: "probable" } } });
    const guess = await ask("Write", {
      file_path: "/w/a.ts",
      content: `pat: ghp_${letters(20, 9)}\nid = "1//0${letters(8, 3)}"`,
    });
    expect(guess.decision).toBe("allow");
  });

  it("small files come first, and the hook has its answer before it gives up", async () => {
    const { cwd, ask } = await start();
    const names = Array.from({ length: 8 }, (_, n) => `large${n}.log`);
    for (const name of names) {
      await writeFile(join(cwd, name), "");
      await truncate(join(cwd, name), 2 * 2 ** 20);
    }
    expect(await ask("Bash", { command: `cat ${names.join(" ")}` })).toMatchObject({
      decision: "allow",
      partial: true,
    });
    expect((await ask("Bash", { command: `cat ${names.join(" ")} .env` })).decision).toBe("block");
  });

  it("what was not checked is not clean: the hook's user chose what happens then", async () => {
    const { t, cwd, ask } = await start();
    await writeFile(join(cwd, "large.log"), Buffer.alloc(16 * 2 ** 20 + 10, "a line of a log\n"));
    const read = () => ask("Read", { file_path: "large.log" }, "?client=claude-code");
    expect(await read()).toMatchObject({ decision: "allow", partial: true });
    await t.send("POST", "/api/security/install-hook", { tool: "claude-code", onFailure: "block" });
    expect(await read()).toMatchObject({ decision: "block", partial: true });
    expect(await ask("Read", { file_path: "notes.txt" }, "?client=claude-code")).toMatchObject({ decision: "allow" });
    const line = { command: `${":;".repeat(200_000)}cat .env` };
    const answer = await ask("Bash", line, "?client=claude-code");
    expect(answer).toMatchObject({
      decision: "block",
      partial: true,
      reason: expect.stringContaining("more than can be checked"),
    });
  });
});
