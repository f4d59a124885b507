/** The plugins these tests need, and a session with things in it that must not get out. */
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import codex from "../../plugins/codex/index.ts";
import copilot from "../../plugins/copilot/index.ts";
import crush from "../../plugins/crush/index.ts";
import cursor from "../../plugins/cursor/index.ts";
import droid from "../../plugins/droid/index.ts";
import feedback from "../../plugins/feedback/index.ts";
import gemini from "../../plugins/gemini-cli/index.ts";
import grok from "../../plugins/grok/index.ts";
import kimi from "../../plugins/kimi/index.ts";
import opencode from "../../plugins/opencode/index.ts";
import qwen from "../../plugins/qwen/index.ts";
import security from "../../plugins/security/index.ts";
import share from "../../plugins/share/index.ts";
import vibe from "../../plugins/vibe/index.ts";
import { createTestKernel, type TestKernelOptions } from "../kernel.ts";

/** Every assistant with a guard, in the order of the built-in list. */
const assistants = () => [
  claude(),
  codex(),
  cursor(),
  opencode(),
  gemini(),
  copilot(),
  grok(),
  qwen(),
  kimi(),
  droid(),
  vibe(),
  opencode({ variant: "kilo" }),
  crush(),
];

export const plugins = () => [archive(), ...assistants(), security(), share(), feedback()];

export interface Row {
  role: "user" | "assistant" | "call" | "result";
  text?: string;
  name?: string;
  input?: unknown;
  id?: string;
  failed?: boolean;
}

export const SESSION = "claude-code:aaaaaaaa-0000-4000-8000-000000000001";

/** Claude Code's log of these messages. */
export function toLog(rows: readonly Row[], cwd: string, branch: string): string {
  return rows
    .map((row, index) => {
      const common = {
        uuid: `u${index}`,
        timestamp: new Date(Date.UTC(2026, 10, 1, 10, 0, index)).toISOString(),
        cwd,
        gitBranch: branch,
        sessionId: SESSION.split(":")[1],
      };
      const id = row.id ?? `t${index}`;
      const content = {
        user: row.text,
        assistant: [{ type: "text", text: row.text }],
        call: [{ type: "tool_use", id, name: row.name ?? "Bash", input: row.input }],
        result: [{ type: "tool_result", tool_use_id: id, content: row.text, is_error: row.failed ?? false }],
      }[row.role];
      const role = row.role === "assistant" || row.role === "call" ? "assistant" : "user";
      const message =
        role === "user" ? { role, content } : { role, id: `m${index}`, model: "claude-sonnet-4-5", content };
      return JSON.stringify({ type: role, ...common, message });
    })
    .join("\n")
    .concat("\n");
}

export async function startWith(
  rows: readonly Row[],
  options: TestKernelOptions & { cwd?: string; branch?: string } = {},
) {
  const t = await createTestKernel({ plugins: plugins(), ...options });
  const file = join(t.home, ".claude/projects/-w-app", `${SESSION.split(":")[1]}.jsonl`);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, toLog(rows, options.cwd ?? "/w/app", options.branch ?? "main"));
  const { status, body } = await t.send<{ imported: number }>("POST", "/api/import", { all: true });
  if (status !== 200 || body.imported !== 1) throw new Error(`Not imported: ${status} ${JSON.stringify(body)}`);
  return t;
}
