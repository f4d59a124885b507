/** What the output of a call says, in its shapes, and whether the call failed. */
import { isRecord } from "sessarc";
import { contentText } from "./rows.ts";

interface Output {
  text: string;
  failed?: boolean | undefined;
}

/** The output of a tool call in its four shapes: text, wrapped JSON text, content items, `{ content, success }`. */
export function toOutput(output: unknown): Output {
  if (typeof output === "string")
    return output.startsWith('{"') ? unwrap(output) : { text: output, failed: failureIn(output) };
  if (!isRecord(output)) {
    const text = contentText(output);
    return { text, failed: failureIn(text) };
  }
  const text = contentText(output.content ?? output.body ?? output.output);
  return { text, failed: typeof output.success === "boolean" ? !output.success : failureIn(text) };
}

function unwrap(output: string): Output {
  try {
    const parsed: unknown = JSON.parse(output);
    if (isRecord(parsed) && typeof parsed.output === "string") {
      const code = isRecord(parsed.metadata) ? parsed.metadata.exit_code : undefined;
      return { text: parsed.output, failed: typeof code === "number" ? code !== 0 : undefined };
    }
  } catch {
    // text that only looks like JSON
  }
  return { text: output };
}

/** Texts of Codex for a call that did not run or failed without an exit code. */
const FAILURES = [
  "Script failed\n",
  "apply_patch verification failed",
  "Command blocked by ",
  "Tool call blocked by ",
  "unsupported call: ",
  "failed to parse function arguments",
  "exec_command failed",
  "aborted by user",
];

/** `Exit code: 1` or `Process exited with code 1` among the first lines, or an answer that is a failure; undefined when nothing tells. */
function failureIn(output: string): boolean | undefined {
  const head = output.slice(0, 400);
  const code = /^(?:Exit code: |Process exited with code )(-?\d+)$/m.exec(head)?.[1];
  if (code !== undefined) return code !== "0";
  const said = head.replace(/^Wall time: [^\n]*\n/, "");
  return FAILURES.some((start) => said.startsWith(start)) || undefined;
}
