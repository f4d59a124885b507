/** Sessions of Claude Code that work in a repository, archived. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import archive from "../../plugins/archive/index.ts";
import blamePlugin, { type Origins } from "../../plugins/blame/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import git from "../../plugins/git/index.ts";
import { type Repo, T0, tempFolder } from "../git/_repo.ts";

export type Call = [seconds: number, tool: string, input: object, failed?: boolean];
export const KEYS = ["a", "b"].map((one) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${one}`);

/** A kernel with sessions of Claude Code in the repository: seq 0 is the prompt, then call and result of each. */
export async function archived(repo: Repo, sessions: readonly (readonly Call[])[]) {
  const home = tempFolder();
  for (const [n, calls] of sessions.entries()) {
    const key = KEYS[n] ?? "";
    const row = (seconds: number, type: string, content: unknown) => ({
      ...{ type, uuid: `${type}${seconds}`, sessionId: key, cwd: repo.root },
      timestamp: new Date((T0 + seconds) * 1000).toISOString(),
      message: { id: `${key}${seconds}`, role: type, model: "m", content },
    });
    const rows = calls.flatMap(([seconds, name, input, failed = false], i) => [
      row(seconds, "assistant", [{ type: "tool_use", id: `t${i}`, name, input }]),
      row(seconds, "user", [{ type: "tool_result", tool_use_id: `t${i}`, content: "done", is_error: failed }]),
    ]);
    const log = join(home, ".claude/projects/-w", `${key}.jsonl`);
    mkdirSync(dirname(log), { recursive: true });
    writeFileSync(log, [row(0, "user", "Go"), ...rows].map((one) => `${JSON.stringify(one)}\n`).join(""));
  }
  const t = await createTestKernel({ home, plugins: [archive(), git(), blamePlugin(), claude()] });
  await t.send("POST", "/api/import", { all: true });
  const [project] = await t.json<{ id: string }[]>("/api/projects");
  const ask = (path: string) => `/api/git/blame?${new URLSearchParams({ project: project?.id ?? "", path })}`;
  return { t, project: project?.id ?? "", ask, blame: (path: string) => t.json<Origins>(ask(path)) };
}
