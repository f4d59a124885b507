/** What of configurations may be shown: entries and differences without any of their secrets. */
import * as jsonc from "jsonc-parser";
import { type SettingsSyntax, tomlStrings, tomlText } from "sessarc/files";
import { hideValues, maskArgs, maskUrl, maskValues, toMask, toSecrets } from "../vault/mask.ts";
import type { McpServerEntry } from "./contract.ts";

/** What may be shown of the texts of a file: everything else in a difference is masked. */
interface Hider {
  /** Of a text in quotes, what is shown instead. */
  literal(value: string): string;
  /** Of comments and values without quotes. */
  loose(text: string): string;
}

/** `servers` are the file's; `safe` are the hub's own texts. A value that is secret in one place is hidden everywhere. */
export function createHider(servers: readonly McpServerEntry[], safe: readonly string[]): Hider {
  const known = new Map<string, string>([...safe, ...WORDS].map((text) => [text, text]));
  const learn = (values: readonly string[], masked: readonly string[]) => {
    for (const [i, value] of values.entries())
      if (known.get(value) === undefined || masked[i] !== value) known.set(value, masked[i] ?? toMask(value));
  };
  const secrets = new Set<string>();
  for (const { name, path, transport, command, cwd, url, args = [], env = {}, headers = {}, tools } of servers) {
    const plain = [
      ...path,
      name,
      transport,
      ...(tools?.allow ?? []),
      ...(tools?.deny ?? []),
      ...Object.keys(env),
      ...Object.keys(headers),
    ];
    for (const text of [...plain, command, cwd]) if (text !== undefined) learn([text], [text]);
    learn(args, maskArgs(args));
    for (const values of [env, headers]) learn(Object.values(values), Object.values(maskValues(values)));
    if (url !== undefined) learn([url], [maskUrl(url)]);
    for (const secret of toSecrets({ args, env, headers, url: url ?? null })) secrets.add(secret);
  }
  const sorted = [...secrets].sort((a, b) => b.length - a.length);
  return {
    literal: (value) => known.get(value) ?? toMask(value),
    loose: (text) => hideValues(text, sorted).replace(RANDOM, (word) => (/\d/.test(word) ? toMask("") : word)),
  };
}

/** Words of the formats themselves. */
const WORDS = ["http", "sse", "stdio", "local", "remote", "streamable-http", "*"];
/** Outside of quotes: what may be a token, and numbers that are no small ones. */
const RANDOM = /[A-Za-z0-9_\-+=.~]{16,}|\b\d{6,}\b/g;
const LONG_LINE = 2_000;

interface ShownEdit {
  before: string;
  after: string;
  syntax: SettingsSyntax;
  hider: Hider;
}

/** The lines that change, as a unified difference without context. */
export async function showEdit({ before, after, syntax, hider }: ShownEdit): Promise<string> {
  if (before === after) return "";
  const isToml = syntax === "toml";
  const [old, fresh] = isToml ? [hideToml(before, hider), hideToml(after, hider)] : unfolded(before, after);
  const { structuredPatch } = await import("diff");
  const { hunks } = structuredPatch("", "", old, fresh, undefined, undefined, { context: 0 });
  return hunks
    .flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
      `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
      ...lines.filter((line) => !line.startsWith("\\")).map((line) => (isToml ? line : hideJson(line, hider))),
    ])
    .join("\n");
}

/** A file in one line would be shown whole. */
function unfolded(before: string, after: string): [string, string] {
  if (!before.split("\n").some((line) => line.length > LONG_LINE)) return [before, after];
  const unfold = (text: string) =>
    jsonc.applyEdits(text, jsonc.format(text, undefined, { insertSpaces: true, tabSize: 2, eol: "\n" }));
  return [unfold(before), unfold(after)];
}

/** One line, which begins with its sign. Texts never span lines. */
function hideJson(line: string, { literal, loose }: Hider): string {
  const scanner = jsonc.createScanner(line, true);
  let shown = "";
  let done = 0;
  for (let token = scanner.scan(); token !== jsonc.SyntaxKind.EOF; token = scanner.scan()) {
    if (token !== jsonc.SyntaxKind.StringLiteral) continue;
    const [start, end] = [scanner.getTokenOffset(), scanner.getTokenOffset() + scanner.getTokenLength()];
    const isName = /^\s*:/.test(line.slice(end));
    const value = scanner.getTokenValue();
    shown += loose(line.slice(done, start)) + JSON.stringify(isName ? value : literal(value));
    done = end;
  }
  return shown + loose(line.slice(done));
}

/** All of it at once: texts may span lines. What cannot be read here may hold anything. */
function hideToml(text: string, { literal, loose }: Hider): string {
  let shown = "";
  let done = 0;
  for (const { start, end } of tomlStrings(text)) {
    const value = tomlText(text.slice(start, end));
    shown += loose(text.slice(done, start)) + JSON.stringify(value === undefined ? toMask("") : literal(value));
    done = end;
  }
  return shown + loose(text.slice(done));
}
