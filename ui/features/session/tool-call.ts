/** What a tool call says in one line, and what its arguments are, across assistants. */
import { type EditText, toolCall } from "../../../core/adapter/tool-call.ts";
import type { Message } from "../../wire.ts";
import type { Role } from "./transcript/model.ts";

type Input = Record<string, unknown>;
export const inputOf = (message: Message): Input =>
  typeof message.tool_input === "object" && message.tool_input !== null && !Array.isArray(message.tool_input)
    ? (message.tool_input as Input)
    : {};

const str = (input: Input, ...names: string[]): string | undefined => {
  for (const name of names) {
    const value = input[name];
    if (typeof value === "string" && value !== "") return value;
    if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string"))
      return value.join(" ");
  }
  return undefined;
};

export const pathOf = (message: Message): string | undefined => toolCall(message.tool_input).path;
export const commandOf = (message: Message): string | undefined => toolCall(message.tool_input).command || undefined;
export const patchOf = (message: Message): string | undefined => toolCall(message.tool_input).patch;

export type Edit = Pick<EditText, "before" | "after"> & Partial<Pick<EditText, "all">>;
/** Pairs of old and new text of an edit or write. */
export function editsOf(message: Message): Edit[] {
  const { edits, content } = toolCall(message.tool_input);
  return edits.length > 0 || content === undefined ? edits : [{ before: "", after: content }];
}

export interface Question {
  question: string;
  header: string;
  options: { label: string; description: string }[];
}
export function questionsOf(message: Message): Question[] {
  const { questions } = inputOf(message);
  return (Array.isArray(questions) ? questions : []).flatMap((item: unknown): Question[] => {
    if (item === null || typeof item !== "object") return [];
    const row = item as Input;
    const question = str(row, "question", "text", "prompt");
    if (question === undefined) return [];
    const options = (Array.isArray(row.options) ? row.options : []).flatMap((option: unknown) => {
      if (typeof option === "string") return [{ label: option, description: "" }];
      if (option === null || typeof option !== "object") return [];
      const label = str(option as Input, "label", "value", "name");
      return label === undefined ? [] : [{ label, description: str(option as Input, "description") ?? "" }];
    });
    return [{ question, header: str(row, "header", "title") ?? "", options }];
  });
}

interface Todo {
  text: string;
  state: "done" | "now" | "open";
}
export function todosOf(message: Message): Todo[] {
  const input = inputOf(message);
  const list = [input.todos, input.plan, input.items, input.todoList].find(Array.isArray) as unknown[] | undefined;
  // One task a call, as newer assistants keep their lists.
  const single = str(input, "subject") ?? (str(input, "taskId") && `#${str(input, "taskId")}`);
  return (list ?? (single ? [{ ...input, title: single }] : [])).flatMap((item): Todo[] => {
    if (typeof item === "string") return [{ text: item, state: "open" }];
    if (item === null || typeof item !== "object") return [];
    const row = item as Input;
    const text = str(row, "content", "step", "title", "description", "text");
    const status = String(row.status ?? row.state ?? "");
    return text === undefined
      ? []
      : [
          {
            text,
            state: /done|complete/i.test(status) ? "done" : /progress|active|doing/i.test(status) ? "now" : "open",
          },
        ];
  });
}

const GLYPH: Record<string, string> = {
  read: "file-text",
  edit: "pencil",
  write: "pencil",
  patch: "pencil",
  delete: "trash",
  move: "pencil",
  shell: "terminal",
  search: "search",
  fetch: "globe",
  todo: "list-todo",
  agent: "users-round",
};
export const glyphOf = (role: Role | undefined): string => GLYPH[role ?? ""] ?? "wrench";

/** The argument that says most. */
export function argumentOf(message: Message, role: Role | undefined): string {
  const input = inputOf(message);
  if (role === "shell") return commandOf(message) ?? "";
  if (role === "search") {
    const pattern = str(input, "pattern", "query", "regex", "q", "search", "glob");
    const where = str(input, "path", "dir", "include", "directory", "glob");
    return [pattern, where && where !== pattern ? `in ${where}` : ""].filter(Boolean).join(" ");
  }
  if (role === "agent") return str(input, "description", "title", "prompt", "task") ?? "";
  if (role === "fetch") return str(input, "url", "query", "uri") ?? "";
  // What has a view of its own below.
  if (role === "todo" || typeof input.plan === "string" || Array.isArray(input.questions)) return "";
  const path = pathOf(message);
  if (path) return path;
  if (typeof message.tool_input === "string") return message.tool_input.split("\n", 1)[0] ?? "";
  return (
    commandOf(message) ??
    str(input, "description", "query", "url", "name", "skill") ??
    Object.values(input).find((one): one is string => typeof one === "string") ??
    ""
  );
}
