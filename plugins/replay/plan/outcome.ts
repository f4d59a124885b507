/** What a recorded command came to, from the words that the tools write around an output. */
import type { RecordedOutcome } from "../contract.ts";

interface Form {
  /** Its first group is the exit code. */
  code: RegExp;
  /** The output inside the text, when there is more around it than the words of the code. */
  output?: (text: string, match: RegExpExecArray) => string;
}

const MARGIN = 2_000;

/** Tried in order on the first and the last 2,000 characters. */
const FORMS: readonly Form[] = [
  // Codex: "Chunk ID: …\nWall time: …\nProcess exited with code 0\nOutput:\n…" and "Exit code: 0\nWall time: …\nOutput:\n…"
  {
    code: /^(?:[^\n]*\n){0,6}?(?:Process exited with code|Exit code:) (-?\d+)\n(?:[^\n]*\n){0,6}?(?:Total output lines: \d+\n)?Output:\n/,
    output: after,
  },
  // Claude Code, for commands that failed.
  { code: /^(?:Error: )?Exit code (\d+)(?:\n|$)/, output: after },
  // Copilot CLI.
  {
    code: /\n?<(?:exited|command exited|shellId: \d+ (?:completed|exited)) with exit code (-?\d+)>\s*$/,
    output: before,
  },
  // Gemini CLI: "Command: …\nDirectory: …\nOutput: …\nError: (none)\nExit Code: 3\n…"
  { code: /(?:^|\n)Exit Code: (-?\d+)(?=\n|$)/, output: labelled },
  { code: /(?:^|\n)Output: [\s\S]*?\nError: \(none\)\nExit Code: \(none\)()/, output: labelled },
];

/** `failed` is what the log says of the call. A code that the log does not name is null, but 0 where the assistant marks every other as failed. */
export function toOutcome(text: string, failed: boolean): RecordedOutcome {
  for (const form of FORMS) {
    const place = form.output === before ? Math.max(0, text.length - MARGIN) : 0;
    const part = form.output === after ? text.slice(0, MARGIN) : text.slice(place);
    const match = form.code.exec(part);
    if (!match) continue;
    match.index += place;
    return { exitCode: match[1] === "" ? 0 : Number(match[1]), output: form.output?.(text, match) ?? text };
  }
  return { exitCode: failed ? null : 0, output: text };
}

function after(text: string, match: RegExpExecArray): string {
  return text.slice(match.index + match[0].length);
}

function before(text: string, match: RegExpExecArray): string {
  return text.slice(0, match.index);
}

function labelled(text: string): string {
  const start = /(?:^|\n)(?:Output|Stdout): /.exec(text);
  if (!start) return text;
  const rest = text.slice(start.index + start[0].length);
  const end = rest.search(/\n(?:Error|Stderr|Exit Code|Signal|Background PIDs|Process Group PGID): /);
  return end < 0 ? rest : rest.slice(0, end);
}
