/** What Gemini CLI's `settings.json` says beside the chats: servers and how long chats are kept. */
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { McpServerEntry, Retention } from "sessarc";
import { fieldsOf, isFields, listOf, stringOf } from "./_shape.ts";
import type { Fields } from "./types.ts";

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 };
const DEFAULT_DAYS = 30;

/** Servers under `mcpServers`; throws SyntaxError when the text is not strict JSON. */
export function parseServers(text: string): McpServerEntry[] {
  const settings = fieldsOf(JSON.parse(text));
  const rules = fieldsOf(settings.mcp);
  const excluded = strings(rules.excluded);
  const allowed = rules.allowed === undefined ? undefined : strings(rules.allowed);
  const entries: McpServerEntry[] = [];
  for (const [name, value] of Object.entries(fieldsOf(settings.mcpServers))) {
    const entry = isFields(value) ? entryOf(name, value) : undefined;
    if (!entry) continue;
    const disabled = excluded.includes(name) || (allowed !== undefined && !allowed.includes(name));
    entries.push(disabled ? { ...entry, disabled } : entry);
  }
  return entries;
}

/**
 * How long chats are kept: `general.sessionRetention`. Absent in a settings file means the default of 0.40 and later
 * (30 days); undefined when cleaning is off, bound to a count only, or the tool is not installed.
 */
export async function readRetention(file: string): Promise<Retention | undefined> {
  const text = await readFile(file, "utf8").catch(() => undefined);
  if (text === undefined) {
    const home = await stat(dirname(file)).catch(() => undefined);
    return home?.isDirectory() ? { days: DEFAULT_DAYS, source: "Gemini CLI's default" } : undefined;
  }
  const settings = tryParse(text);
  if (!isFields(settings)) return undefined; // with comments: not ours to guess
  const rules = fieldsOf(fieldsOf(settings.general).sessionRetention);
  if (rules.enabled === false) return undefined;
  const age = stringOf(rules.maxAge);
  if (age === undefined) {
    if (rules.maxCount !== undefined) return undefined;
    return { days: DEFAULT_DAYS, source: "Gemini CLI's default" };
  }
  const [, amount, unit] = age.match(/^(\d{1,6})([hdwm])$/) ?? [];
  const days = Number(amount) * (DAYS[unit ?? ""] ?? Number.NaN);
  return days > 0 ? { days, source: file } : undefined;
}

function entryOf(name: string, server: Fields): McpServerEntry | undefined {
  const url = stringOf(server.httpUrl) ?? stringOf(server.url);
  const command = stringOf(server.command);
  if (url !== undefined && command === undefined) {
    // A bare `url` is SSE, unless `type` says otherwise.
    const http = stringOf(server.httpUrl) !== undefined || server.type === "http";
    const entry: McpServerEntry = { name, transport: http ? "http" : "sse", url };
    return isFields(server.headers) ? { ...entry, headers: stringMap(server.headers) } : entry;
  }
  if (command === undefined) return undefined;
  const cwd = stringOf(server.cwd);
  return {
    name,
    transport: "stdio",
    command,
    ...(Array.isArray(server.args) && { args: strings(server.args) }),
    ...(isFields(server.env) && { env: stringMap(server.env) }),
    ...(cwd !== undefined && { cwd }),
  };
}

function strings(value: unknown): string[] {
  return listOf(value).filter((item) => typeof item === "string");
}

function stringMap(value: Fields): Record<string, string> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (typeof item === "string" ? [[key, item]] : [])),
  );
}

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
