/** What sessarc knows of OpenCode beside its logs, as data: its tools' names, where skills, servers and the guard live. */

import { join } from "node:path";
import { type Adapter, isRecord, type McpServerEntry, type ToolRole, toRecord, toText } from "sessarc";
import { configFolder } from "./places.ts";

export const tools: Readonly<Record<string, ToolRole>> = {
  read: "read",
  edit: "edit",
  multiedit: "edit",
  write: "write",
  patch: "patch",
  apply_patch: "patch",
  bash: "shell",
  shell: "shell",
  grep: "search",
  glob: "search",
  list: "search",
  codesearch: "search",
  lsp: "search",
  webfetch: "fetch",
  websearch: "fetch",
  todowrite: "todo",
  todoread: "todo",
  task: "agent",
};

/** Paths of scope `project` are relative to the project. */
export const skills: NonNullable<Adapter["skills"]> = {
  dirs: (env) => [
    { path: join(".opencode", "skills"), scope: "project" },
    { path: join(".agents", "skills"), scope: "project" },
    { path: join(configFolder(env), "skills"), scope: "user" },
  ],
  used: ({ kind, tool_name, tool_input }) =>
    kind === "tool_use" && tool_name === "skill" ? toText(toRecord(tool_input).name) : undefined,
};

/** Strict JSON: a file with comments or trailing commas makes `parse` throw a SyntaxError. */
export const mcp: NonNullable<Adapter["mcp"]> = {
  files: (env) => {
    const chosen = env.env.OPENCODE_CONFIG;
    const usual = ["opencode.json", "opencode.jsonc", "config.json"].map((name) => join(configFolder(env), name));
    return chosen ? [chosen, ...usual] : usual;
  },
  parse(text) {
    const config: unknown = JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text);
    return Object.entries(toRecord(toRecord(config).mcp)).flatMap(([name, value]) => toServer(name, value) ?? []);
  },
};

/** A plugin of ours that throws in `tool.execute.before` blocks the call; what happens when the service is away is its choice. */
export const guard: NonNullable<Adapter["guard"]> = {
  settings: (env) => join(configFolder(env), "plugin", "sessarc.js"),
  format: "plugin",
  transport: "plugin",
  onFailure: "configurable",
};

function toServer(name: string, value: unknown): McpServerEntry | undefined {
  if (!isRecord(value)) return undefined;
  const disabled = value.enabled === false ? { disabled: true } : {};
  const url = toText(value.url);
  if (url) return { name, transport: "http", url, ...record("headers", value.headers), ...disabled };
  const command = Array.isArray(value.command) ? value.command.filter((part) => typeof part === "string") : [];
  const [program, ...args] = command;
  if (!program) return undefined;
  return { name, transport: "stdio", command: program, args, ...record("env", value.environment), ...disabled };
}

function record<K extends "headers" | "env">(key: K, value: unknown): { [P in K]?: Record<string, string> } {
  const pairs = Object.entries(toRecord(value)).filter((pair): pair is [string, string] => typeof pair[1] === "string");
  return pairs.length > 0 ? ({ [key]: Object.fromEntries(pairs) } as { [P in K]: Record<string, string> }) : {};
}
