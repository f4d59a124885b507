/** Sessions of Claude Code that work in a repository, archived. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createTestKernel } from "sessarc/test";
import archive from "../../plugins/archive/index.ts";
import blamePlugin, { type Origins } from "../../plugins/blame/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import git from "../../plugins/git/index.ts";
import insights from "../../plugins/insights/index.ts";
import security from "../../plugins/security/index.ts";
import { type Repo, T0, tempFolder } from "../git/_repo.ts";

export type Call = [seconds: number, tool: string, input: object, failed?: boolean];
export const KEYS = ["a", "b", "c"].map((one) => `0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a0${one}`);

/**
 * A kernel with sessions of Claude Code in the repository: seq 0 is the prompt, then call and result of each. `patches`: a session of Codex
 * that applied them. `forks`: which session is a fork of which, with its calls.
 */
export async function archived(
  repo: Repo,
  sessions: readonly (readonly Call[])[],
  patches: readonly [seconds: number, patch: string][] = [],
  forks: Readonly<Record<number, number>> = {},
) {
  const home = tempFolder();
  if (patches.length > 0) writeCodex(home, repo.root, patches);
  for (const [n, calls] of sessions.entries()) {
    const key = KEYS[n] ?? "";
    const of = forks[n] === undefined ? undefined : KEYS[forks[n] ?? 0];
    const row = (seconds: number, type: string, content: unknown) => ({
      ...(of !== undefined && { forkedFrom: { sessionId: of, messageUuid: `${type}${seconds}` } }),
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
  const t = await createTestKernel({
    home,
    plugins: [archive(), git(), insights(), security(), blamePlugin(), claude(), codex()],
  });
  await t.send("POST", "/api/import", { all: true });
  const [project] = await t.json<{ id: string }[]>("/api/projects");
  const ask = (path: string) => `/api/git/blame?${new URLSearchParams({ project: project?.id ?? "", path })}`;
  return { t, project: project?.id ?? "", ask, blame: (path: string) => t.json<Origins>(ask(path)) };
}

function writeCodex(home: string, cwd: string, patches: readonly [seconds: number, patch: string][]): void {
  const at = (seconds: number) => new Date((T0 + seconds) * 1000).toISOString();
  const row = (seconds: number, type: string, payload: object) =>
    `${JSON.stringify({ timestamp: at(seconds), type, payload })}\n`;
  const id = "0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0c0d";
  const rows = [
    row(0, "session_meta", {
      id,
      timestamp: at(0),
      cwd,
      originator: "codex_cli_rs",
      cli_version: "0.169.0",
      source: "cli",
    }),
    row(0, "response_item", { type: "message", role: "user", content: [{ type: "input_text", text: "Go" }] }),
    ...patches.flatMap(([seconds, input], i) => [
      row(seconds, "response_item", { type: "custom_tool_call", call_id: `c${i}`, name: "apply_patch", input }),
      row(seconds, "response_item", {
        ...{ type: "custom_tool_call_output", call_id: `c${i}` },
        output: "Exit code: 0\nWall time: 0 seconds\nOutput:\nDone\n",
      }),
    ]),
  ];
  const log = join(home, ".codex/sessions/2023/11/14", `rollout-2023-11-14T22-13-20-${id}.jsonl`);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, rows.join(""));
}
