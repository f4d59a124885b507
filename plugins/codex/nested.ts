/** Calls that a script of Codex's code mode made: the log has them as completed items of their own, beside the script's call. */
import { isRecord, type Json, type JsonRecord, toText } from "sessarc";
import { toToolInput } from "sessarc/adapter";

interface NestedCall {
  id: string;
  name: string;
  input: Json;
  output: string;
  failed: boolean;
}

/**
 * The call an item stands for. Undefined for an item that repeats a call the model made itself, which has that call's id: those
 * of a script begin with `exec-`.
 */
export function toNestedCall(item: JsonRecord): NestedCall | undefined {
  const id = toText(item.id);
  if (!id?.startsWith("exec-")) return undefined;
  const made = findCall(item);
  return made && { id, failed: item.status === "failed" || item.status === "declined", ...made };
}

type Made = Omit<NestedCall, "id" | "failed"> & { failed?: boolean };

function findCall(item: JsonRecord): Made | undefined {
  switch (item.type) {
    case "CommandExecution": {
      const exit = item.exit_code;
      const failed = typeof exit === "number" ? { failed: exit !== 0 } : {};
      const workdir = findPath(item.cwd);
      const input = { cmd: toCommand(item.command), ...(workdir && { workdir }) };
      return { name: "exec_command", input, output: toText(item.aggregated_output) ?? "", ...failed };
    }
    case "FileChange": {
      const output = [item.stdout, item.stderr].flatMap((text) => toText(text) ?? []).join("\n");
      return { name: "apply_patch", input: toPatch(item.changes), output };
    }
    case "McpToolCall":
    case "DynamicToolCall": {
      const name = [item.server, item.tool].flatMap((part) => toText(part) ?? []).join("__") || "tool";
      const failed = item.success === false || item.error ? { failed: true } : {};
      const output = jsonText(item.error ?? item.result ?? item.content_items);
      return { name, input: toToolInput(item.arguments) ?? null, output, ...failed };
    }
    case "CollabAgentToolCall": {
      const tool = toText(item.tool) ?? "agent";
      const prompt = toText(item.prompt);
      const targets = toToolInput(item.receiver_thread_ids) ?? [];
      const input: Record<string, Json> = prompt === undefined ? { targets } : { message: prompt };
      return { name: tool, input, output: jsonText(item.agents_states) };
    }
    case "WebSearch":
      return { name: "web_search", input: { query: toText(item.query) ?? "" }, output: "" };
    case "ImageView":
      return { name: "view_image", input: { path: findPath(item.path) ?? "" }, output: "" };
    default:
      return undefined;
  }
}

/** The command line inside `["/bin/bash", "-lc", "ls"]`; any other command as it was given. */
function toCommand(command: unknown): string {
  const words = Array.isArray(command) ? command.map(String) : [toText(command) ?? ""];
  const [shell = "", flags = "", line] = words;
  const isShell = /(?:^|[\\/])(?:ba|z|da|k)?sh$/.test(shell) && /^-l?c$/.test(flags) && words.length === 3;
  return isShell && line !== undefined ? line : words.join(" ");
}

function findPath(value: unknown): string | undefined {
  const text = toText(value);
  if (!text?.startsWith("file://")) return text;
  try {
    return decodeURIComponent(new URL(text).pathname);
  } catch {
    return text;
  }
}

/** The changes as the patch text that the tool itself takes: added, deleted, updated with hunks, moved. */
function toPatch(changes: unknown): string {
  const files = Object.entries(isRecord(changes) ? changes : {}).map(([path, change]) => {
    if (!isRecord(change)) return `*** Update File: ${path}`;
    if (change.type === "add") return `*** Add File: ${path}\n${prefixed("+", toText(change.content) ?? "")}`;
    if (change.type === "delete") return `*** Delete File: ${path}`;
    const moved = toText(change.move_path);
    const head = moved === undefined ? "" : `\n*** Move to: ${moved}`;
    return `*** Update File: ${path}${head}\n${(toText(change.unified_diff) ?? "").replace(/\n$/, "")}`;
  });
  return ["*** Begin Patch", ...files, "*** End Patch"].join("\n");
}

const prefixed = (mark: string, text: string) => text.replace(/\n$/, "").replace(/^/gm, mark);

function jsonText(value: unknown): string {
  if (value === undefined || value === null) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}
