/** Small functions that many plugins share. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { endProcess, isAlive, startProcess } from "../../core/utils/exec.ts";
import { exists, isFolder, isReachable } from "../../core/utils/gone.ts";
import { quoted } from "../../core/utils/shell.ts";
import { oneLine } from "../../core/utils/text.ts";
import { makeTempDir } from "../_setup.ts";

it("a quoted word is that word for a shell", () => {
  const word = `it's $HOME \\ "x"\n\`id\``;
  expect(execFileSync("/bin/sh", ["-c", `printf %s ${quoted(word)}`], { encoding: "utf8" })).toBe(word);
});

it("a text on one line has single spaces", () => {
  expect(oneLine(" a\n\tb  c\u2028d ")).toBe("a b c d");
});

it("a file, a folder, a broken link and nothing are different things", async () => {
  const dir = await makeTempDir();
  await writeFile(join(dir, "file"), "");
  await mkdir(join(dir, "folder"));
  await symlink(join(dir, "gone"), join(dir, "broken"));
  const answers: Record<string, boolean[]> = {};
  for (const name of ["file", "folder", "broken", "nothing", "file/below"]) {
    const path = join(dir, name);
    answers[name] = [await exists(path), await isReachable(path), await isFolder(path)];
  }
  expect(answers).toEqual({
    file: [true, true, false],
    folder: [true, true, true],
    broken: [true, false, false],
    nothing: [false, false, false],
    "file/below": [false, false, false],
  });
});

it("ends a process group, also after its leader has ended, and a child that leads none", async () => {
  const options = { cwd: process.cwd(), env: process.env as Record<string, string> };
  const leader = startProcess("/bin/sh", ["-c", "sleep 600 & echo $!"], options);
  const [line] = await once(leader.stdout, "data");
  const left = Number(String(line));
  if (leader.exitCode === null) await once(leader, "exit");
  expect(isAlive(left)).toBe(true);
  endProcess(leader, "SIGTERM");
  // The pipe closes with the last process that holds it; its ID may stay listed in a container whose first process awaits no orphans.
  await once(leader, "close");
  const child = spawn("/bin/sleep", ["600"], { stdio: "ignore" });
  endProcess(child);
  await once(child, "exit");
  expect(isAlive(child.pid ?? 0)).toBe(false);
});
