/** Small logs of Claude Code for tests of the dashboard. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

export interface Story {
  /** Makes the session's id. */
  n: number;
  cwd: string;
  prompt: string;
  /** Time of the first message; the others follow second by second. */
  at: Date;
  /** Tool calls; every third fails. */
  calls?: number;
  /** Of the last message; the others are of a model that has a price. */
  lastModel?: string;
}
const MODEL = "claude-sonnet-4-5";
export const storyId = (n: number): string => `${String(n).padStart(8, "0")}-1111-4111-8111-111111111111`;

/** Writes one session below `home` and answers its path. */
export async function writeStory(
  home: string,
  { n, cwd, prompt, at, calls = 1, lastModel = MODEL }: Story,
): Promise<string> {
  const folder = join(home, ".claude", "projects", cwd.replace(/[^a-zA-Z0-9]/g, "-"));
  await mkdir(folder, { recursive: true });
  const sessionId = storyId(n);
  let step = 0;
  const row = (type: "user" | "assistant", content: unknown, model = MODEL) => {
    const uuid = `${sessionId}-${++step}`;
    const timestamp = new Date(at.getTime() + step * 1_000).toISOString();
    const usage = { input_tokens: 100, output_tokens: 50, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    const message =
      type === "user" ? { role: "user", content } : { id: `msg-${uuid}`, role: "assistant", model, content, usage };
    return JSON.stringify({
      type,
      sessionId,
      uuid,
      cwd,
      timestamp,
      version: "2.1.0",
      requestId: `req-${uuid}`,
      message,
    });
  };
  const lines = [row("user", prompt)];
  for (let call = 0; call < calls; call++) {
    const id = `call-${n}-${call}`;
    lines.push(
      row("assistant", [{ type: "tool_use", id, name: `Tool${call % 15}`, input: { file_path: `${cwd}/a.ts` } }]),
    );
    lines.push(row("user", [{ type: "tool_result", tool_use_id: id, content: "x", is_error: call % 3 === 2 }]));
  }
  lines.push(row("assistant", [{ type: "text", text: "Done." }], lastModel));
  const path = join(folder, `${sessionId}.jsonl`);
  await writeFile(path, `${lines.join("\n")}\n`);
  return path;
}
