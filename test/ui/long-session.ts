/** A log of any length, as Claude Code writes it: all six kinds, code, long results, failures, a pause. */
import { appendFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";

const WORDS =
  "the limit is clamped to one and the failing assertion compares a date created before the fake timer".split(" ");

export interface LongSession {
  id: string;
  path: string;
}

/** Writes a session of about `messages` messages below `home`; deterministic. `nth`: more than one of them. */
export async function writeLongSession(
  home: string,
  messages: number,
  endedAt = Date.UTC(2026, 10, 20, 18),
  nth = 0,
): Promise<LongSession> {
  const id = `aaaaaaaa-bbbb-4ccc-8ddd-${String(20_000 + nth).padStart(12, "0")}`;
  const folder = join(home, ".claude", "projects", "-home-dev-long");
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${id}.jsonl`);
  const lines: string[] = [];
  let uuid = 0;
  let at = endedAt - messages * 4_000;
  const base = () => {
    at += 4_000;
    return {
      uuid: `u${++uuid}`,
      sessionId: id,
      cwd: "/home/dev/long",
      version: "2.1.0",
      timestamp: new Date(at).toISOString(),
    };
  };
  const say = (role: "user" | "assistant", content: unknown) => {
    const message =
      role === "user"
        ? { role, content }
        : {
            id: `m${uuid}`,
            role,
            model: "claude-sonnet-4-5",
            content,
            usage: {
              input_tokens: 10,
              output_tokens: 40,
              cache_read_input_tokens: 900,
              cache_creation_input_tokens: 20,
            },
          };
    lines.push(
      JSON.stringify({ ...base(), type: role, message, ...(role === "assistant" && { requestId: `r${uuid}` }) }),
    );
  };
  const text = (n: number, seed: number) =>
    Array.from({ length: n }, (_, i) => WORDS[(seed * 7 + i * 3) % WORDS.length]).join(" ");
  let written = 0;
  for (let turn = 0; written < messages; turn++) {
    say("user", `Step ${turn}: ${text(12, turn)}`);
    say("assistant", [{ type: "thinking", thinking: `${text(60, turn)}` }]);
    say("assistant", [
      {
        type: "text",
        text: `Done with step ${turn}. ${text(30, turn)}\n\n- \`limit\` is clamped\n- a **test** was added\n\n\`\`\`ts\nexport const step${turn} = (n: number) => Math.min(n, ${turn});\n\`\`\``,
      },
    ]);
    written += 3;
    const calls: [string, Record<string, unknown>, string, boolean][] = [
      [
        "Read",
        { file_path: `/home/dev/long/src/page-${turn % 40}.ts` },
        Array.from({ length: 6 + (turn % 30) }, (_, i) => `${i + 1}→const row${i} = ${i};`).join("\n"),
        false,
      ],
      [
        "Edit",
        {
          file_path: `/home/dev/long/src/page-${turn % 40}.ts`,
          old_string: `  return n;\n}`,
          new_string: `  return Math.min(n, ${turn});\n}`,
        },
        "Updated",
        false,
      ],
      [
        "Bash",
        { command: `npm test -- page-${turn}` },
        turn % 9 === 0 ? "AssertionError: expected 0 to be 1" : ` ✓ test/page.test.ts (${turn} tests) 12ms`,
        turn % 9 === 0,
      ],
    ];
    for (const [name, input, result, failed] of calls) {
      const use = `toolu_${turn}_${name}`;
      say("assistant", [{ type: "tool_use", id: use, name, input }]);
      say("user", [{ type: "tool_result", tool_use_id: use, content: result, ...(failed && { is_error: true }) }]);
      written += 2;
    }
  }
  await writeFile(path, `${lines.join("\n")}\n`);
  return { id: `claude-code:${id}`, path };
}

let added = 0;
/** Appends prompts `text 0`, `text 1`… to the log, as the tool would while it runs. */
export async function appendMessages({ id, path }: LongSession, count: number, text: string): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => {
    const message = { role: "user", content: `${text} ${i}` };
    const at = { cwd: "/home/dev/long", version: "2.1.0", timestamp: new Date().toISOString() };
    return `${JSON.stringify({ type: "user", uuid: `live${++added}`, sessionId: id.replace(/^.*:/, ""), ...at, message })}\n`;
  });
  await appendFile(path, lines.join(""));
}
