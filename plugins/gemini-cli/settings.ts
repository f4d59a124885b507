/** What Gemini CLI's `settings.json` says beside the chats: servers and how long chats are kept. */

import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isRecord, type JsonRecord, type McpServerEntry, type Retention, toItems, toRecord, toText } from "sessarc";

const DAYS: Readonly<Record<string, number>> = { h: 1 / 24, d: 1, w: 7, m: 30 };
const DEFAULT_DAYS = 30;

/** Servers under `mcpServers`; throws SyntaxError when the text is not strict JSON. */
export function parseServers(text: string): McpServerEntry[] {
  const settings = toRecord(JSON.parse(text));
  const rules = toRecord(settings.mcp);
  const excluded = strings(rules.excluded);
  const allowed = rules.allowed === undefined ? undefined : strings(rules.allowed);
  const entries: McpServerEntry[] = [];
  for (const [name, value] of Object.entries(toRecord(settings.mcpServers))) {
    const entry = isRecord(value) ? entryOf(name, value) : undefined;
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
  if (!isRecord(settings)) return undefined; // with comments: not ours to guess
  const rules = toRecord(toRecord(settings.general).sessionRetention);
  if (rules.enabled === false) return undefined;
  const age = toText(rules.maxAge);
  if (age === undefined) {
    if (rules.maxCount !== undefined) return undefined;
    return { days: DEFAULT_DAYS, source: "Gemini CLI's default" };
  }
  const [, amount, unit] = age.match(/^(\d{1,6})([hdwm])$/) ?? [];
  const days = Number(amount) * (DAYS[unit ?? ""] ?? Number.NaN);
  return days > 0 ? { days, source: file } : undefined;
}

function entryOf(name: string, server: JsonRecord): McpServerEntry | undefined {
  const url = toText(server.httpUrl) ?? toText(server.url);
  const command = toText(server.command);
  if (url !== undefined && command === undefined) {
    // A bare `url` is SSE, unless `type` says otherwise.
    const http = toText(server.httpUrl) !== undefined || server.type === "http";
    const entry: McpServerEntry = { name, transport: http ? "http" : "sse", url };
    return isRecord(server.headers) ? { ...entry, headers: stringMap(server.headers) } : entry;
  }
  if (command === undefined) return undefined;
  const cwd = toText(server.cwd);
  return {
    name,
    transport: "stdio",
    command,
    ...(Array.isArray(server.args) && { args: strings(server.args) }),
    ...(isRecord(server.env) && { env: stringMap(server.env) }),
    ...(cwd !== undefined && { cwd }),
  };
}

function strings(value: unknown): string[] {
  return toItems(value).filter((item) => typeof item === "string");
}

function stringMap(value: JsonRecord): Record<string, string> {
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
