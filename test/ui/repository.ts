/** A git repository made in one go, and a session in it, for tests of the dashboard. */
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { writeStory } from "./stories.ts";

export interface CommitPlan {
  at: Date;
  subject: string;
  /** Text of files written; null deletes. */
  files: Record<string, string | null>;
}

/** Commits by `git fast-import`: 50,000 files in about a second. */
export async function writeRepository(root: string, commits: readonly CommitPlan[]): Promise<void> {
  await mkdir(root, { recursive: true });
  const env = { PATH: process.env.PATH, HOME: root };
  const git = (args: string[], input?: string) =>
    new Promise<void>((resolve, reject) => {
      const child = spawn("git", ["-C", root, ...args], { env, stdio: ["pipe", "ignore", "pipe"] });
      let said = "";
      child.stderr.on("data", (chunk) => {
        said += chunk;
      });
      child.on("error", reject);
      child.on("close", (code) => (code === 0 ? resolve() : reject(new Error(`git ${args[0]}: ${said}`))));
      child.stdin.end(input);
    });
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const lines = commits.map(({ at, subject, files }) => {
    const head = `commit refs/heads/main\ncommitter Dev <dev@example.com> ${Math.floor(at.getTime() / 1000)} +0000\n${data(subject)}`;
    const changes = Object.entries(files).map(([path, text]) =>
      text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`,
    );
    return head + changes.join("");
  });
  await git(["init", "-q", "-b", "main"]);
  await git(["fast-import", "--quiet"], `${lines.join("\n")}\n`);
}

/** A session in `root` that begins at `at`, a message each second. */
export const writeSessionIn = (home: string, root: string, prompt: string, at: Date): Promise<string> =>
  writeStory(home, { n: 1, cwd: root, prompt, at, calls: 4 });

export const inHome = (home: string, name: string): string => join(home, "code", name);
