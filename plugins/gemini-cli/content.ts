/** Text of messages and tool results: strings, part lists, and what the tool put there itself. */

import { isRecord, type JsonRecord, toItems, toRecord, toText } from "sessarc";
import { toJsonText } from "sessarc/adapter";

const INJECTED = /^\s*<(session_context|state_snapshot|hook_context|system-reminder|environment_context)\b/;
const SETUP = "This is the Gemini CLI. We are setting up the context for our chat";
/** The tool that runs commands, and the lines that it puts behind their output. */
const SHELL = "run_shell_command";
const SHELL_TAIL = 600;
const SHELL_END =
  /(?:^Exit Code: (\S+)\n?)?(?:^Signal: (\S+)\n?)?(?:^Background PIDs: .*\n?)?(?:^Process Group PGID: .*\n?)?(?:^<\/untrusted_context>\s*)?$(?![\s\S])/m;
const FILES = "--- Content from referenced files ---";

interface UserText {
  /** What the person typed. */
  typed: string;
  /** What the tool added: start-up context, compression summaries, referenced files. */
  injected: string;
}

/** Splits a user record. Both are empty when it only carries tool results (copies of what the call itself has). */
export function userText(row: JsonRecord): UserText {
  const typed: string[] = [];
  const injected: string[] = [];
  let files = false;
  for (const part of toItems(row.displayContent ?? row.content)) {
    const text = partText(part);
    if (text === "") continue;
    files ||= text.trimStart().startsWith(FILES);
    (files || isInjected(text) ? injected : typed).push(text);
  }
  return { typed: typed.join("\n").trim(), injected: injected.join("\n").trim() };
}

/** The start-up context of a session, when this record is one. */
export function findContext(row: JsonRecord): string | undefined {
  const { injected } = userText(row);
  return /<session_context>|We are setting up the context/.test(injected.slice(0, 400)) ? injected : undefined;
}

/** The first workspace folder a start-up context names. */
export function findWorkspace(context: string | undefined): string | undefined {
  const list = context?.match(
    /(?:Workspace Directories:\*{0,2}|working in the following director(?:y|ies):)[ \t]*\r?\n\s*-\s+(.+)/,
  );
  const single = context?.match(/working in the directory:[ \t]*(.+)/);
  const path = (list?.[1] ?? single?.[1])?.trim();
  return path && /^(\/|[A-Za-z]:[\\/]|\\\\)/.test(path) ? path : undefined;
}

/** Answer and thought texts of a reply's `content`. */
export function replyText(row: JsonRecord): { answer: string; thoughts: string[] } {
  const answer: string[] = [];
  const thoughts: string[] = [];
  for (const part of toItems(row.content)) {
    const text = partText(part);
    if (text === "") continue;
    if (isRecord(part) && part.thought === true) thoughts.push(text);
    else answer.push(text);
  }
  return { answer: answer.join("").trim(), thoughts };
}

interface ToolResult {
  text: string;
  isError: boolean;
}

/** What a call gave: the text the model saw, else what the terminal showed. Undefined while it runs. */
export function findResult(call: JsonRecord): ToolResult | undefined {
  const failed = call.status === "error" || call.status === "cancelled";
  const texts: string[] = [];
  let error = false;
  for (const part of toItems(call.result)) {
    const response =
      isRecord(part) && isRecord(part.functionResponse) ? toRecord(part.functionResponse).response : undefined;
    if (response === undefined) texts.push(partText(part));
    else {
      const { text, isError } = responseText(response);
      texts.push(text);
      error ||= isError;
    }
  }
  const text = texts.filter((one) => one !== "").join("\n") || displayText(call.resultDisplay);
  if (text === "" && !failed && texts.length === 0) return undefined;
  error ||= call.name === SHELL && hasFailed(text);
  return { text: text || (failed ? String(call.status) : ""), isError: failed || error };
}

/** For the assistant, a failed command is a successful call: the exit status follows the output. */
function hasFailed(text: string): boolean {
  const [, code = "0", signal = "(none)"] = SHELL_END.exec(text.slice(-SHELL_TAIL)) ?? [];
  return (code !== "0" && code !== "(none)") || (signal !== "0" && signal !== "(none)");
}

function responseText(response: unknown): ToolResult {
  if (!isRecord(response)) return { text: toJsonText(response ?? ""), isError: false };
  if (response.output !== undefined) return { text: toJsonText(response.output), isError: false };
  if (response.error !== undefined) return { text: toJsonText(response.error), isError: true };
  return { text: toJsonText(response), isError: false };
}

function displayText(display: unknown): string {
  if (display === undefined || display === null) return "";
  return toText(toRecord(display).fileDiff) ?? toJsonText(display);
}

function isInjected(text: string): boolean {
  return INJECTED.test(text) || text.startsWith(SETUP);
}

function partText(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isRecord(part)) return "";
  if (typeof part.text === "string") return part.text;
  const blob = isRecord(part.inlineData) ? part.inlineData : isRecord(part.fileData) ? part.fileData : undefined;
  if (blob) return typeof blob.mimeType === "string" && blob.mimeType.startsWith("image/") ? "[image]" : "[file]";
  return "";
}
