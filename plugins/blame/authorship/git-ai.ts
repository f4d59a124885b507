/**
 * Notes of the Git AI Standard v3 (`refs/notes/ai`): files with line ranges of the commit's version, a line `---`, and JSON with the
 * agents they are of. https://github.com/git-ai-project/git-ai/blob/main/specs/git_ai_standard_v3.0.0.md
 */
import { createHash } from "node:crypto";
import { isRecord, type Json, toRecord, toText } from "sessarc";
import { type Authored, type AuthoredCommit, ownId, toRanges } from "./authorship.ts";

export const GIT_AI_REF = "refs/notes/ai";

/** Whom a note names for a line. */
export interface NotedAgent {
  tool: string;
  model: string | null;
  /** Of the assistant's session. */
  session: string | null;
}

interface Entry {
  from: number;
  to: number;
  agent: NotedAgent;
}

/** A note as its lines have it. */
interface Note {
  files: Map<string, { key: string; ranges: [from: number, to: number][] }[]>;
  metadata: Readonly<Record<string, unknown>>;
}

/** Lines of one file, by the commit's own numbers. Empty for text that is not such a note. Lines by people are left out. */
export function readGitAi(note: string, path: string): Entry[] {
  const parsed = parse(note);
  return (parsed?.files.get(path) ?? []).flatMap(({ key, ranges }) => {
    const agent = parsed && agentOf(parsed, key);
    return agent ? ranges.map(([from, to]) => ({ from, to, agent })) : [];
  });
}

function parse(note: string): Note | undefined {
  const cut = note.search(/^---$/m);
  if (cut < 0) return undefined;
  const metadata = parseMetadata(note.slice(cut + 3));
  if (!toText(metadata.schema_version)?.startsWith("authorship/")) return undefined;
  const files: Note["files"] = new Map();
  let entries: { key: string; ranges: [number, number][] }[] = [];
  for (const line of note.slice(0, cut).split("\n")) {
    if (line === "") continue;
    if (!line.startsWith("  ")) {
      entries = [];
      files.set(line.replace(/^"(.*)"$/, "$1"), entries);
      continue;
    }
    const [, key = "", text = ""] = /^ {2}(\S+) ([\d,-]+)$/.exec(line) ?? [];
    const ranges: [number, number][] = [];
    for (const range of text.split(",")) {
      const [from, to = from] = range.split("-").map(Number);
      if (from && to && from <= to) ranges.push([from, to]);
    }
    if (key !== "") entries.push({ key, ranges });
  }
  return { files, metadata };
}

function parseMetadata(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // not a note of the standard
  }
}

function agentOf({ metadata }: Note, key: string): NotedAgent | undefined {
  const agents = { ...toRecord(metadata.prompts), ...toRecord(metadata.sessions) };
  const { tool, model, id } = toRecord(toRecord(agents[key.split("::")[0] ?? ""]).agent_id);
  const name = toText(tool);
  return name === undefined ? undefined : { tool: name, model: toText(model) ?? null, session: toText(id) ?? null };
}

/** Names by which git-ai knows assistants; others have the same name in both. */
const TOOLS: Readonly<Record<string, string>> = {
  "claude-code": "claude",
  "gemini-cli": "gemini",
  copilot: "github-copilot",
};

const toolOf = ({ tool }: Authored): string => TOOLS[tool] ?? tool;

/** 16 hex digits: the same for a session in every commit. */
const keyOf = (one: Authored): string =>
  createHash("sha256")
    .update(`${toolOf(one)}:${ownId(one)}`)
    .digest("hex")
    .slice(0, 16);

/** The mark in the metadata of a note that sessarc wrote. */
const GENERATOR = "sessarc";

/** Prompts of a session that a note may hold, without secrets. */
export interface NotedPrompt {
  text: string;
  at: string | null;
}

/** What a session spent on a commit. */
export interface SessionCost {
  microdollars: number;
  tokens: number;
}

export interface WrittenNote {
  text: string;
  /** It holds a note of git-ai. */
  isMerged: boolean;
  /** Lines for which a note of git-ai names another session. Its answer stays. */
  disagreeing: number;
}

/** By session of the archive. */
interface About {
  prompts: ReadonlyMap<string, readonly NotedPrompt[]>;
  costs: ReadonlyMap<string, SessionCost>;
}

/**
 * The note of a commit. `existing`: the note it has; one of git-ai is merged, and wins where both name a line. Undefined where no session wrote
 * a line. Without prompts the list of messages is empty, as git-ai leaves it where prompts are not shared.
 */
export function writeGitAi(
  authored: AuthoredCommit,
  existing: string | undefined,
  { prompts, costs }: About,
): WrittenNote | undefined {
  const known = existing === undefined ? undefined : parse(existing);
  const theirs = known?.metadata.generator === GENERATOR ? undefined : known;
  const files: Note["files"] = new Map(
    [...(theirs?.files ?? [])].map(([path, entries]) => [path, [...entries]] as const),
  );
  const records: Record<string, Json> = {};
  let disagreeing = 0;
  for (const [path, authors] of [...authored.files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    // The format has no form for them: a line is a path.
    if (/["\n\r]/.test(path)) continue;
    const claimed = theirs ? claimsOf(theirs, path) : new Map<number, string | null>();
    for (const one of authors) {
      const free = one.lines.filter((line) => !claimed.has(line));
      disagreeing += one.lines.filter((line) => claimed.has(line) && claimed.get(line) !== ownId(one)).length;
      if (free.length === 0) continue;
      const entries = files.get(path) ?? [];
      files.set(path, entries);
      const key = keyOf(one);
      const same = entries.find((it) => it.key === key);
      if (same) same.ranges = toRanges([...linesOf(same.ranges), ...free].sort((a, b) => a - b));
      else entries.push({ key, ranges: toRanges(free) });
      records[key] ??= toRecordOf(authored, one, prompts.get(one.session) ?? [], costs.get(one.session));
    }
  }
  if (files.size === 0) return undefined;
  const metadata = theirs
    ? { ...theirs.metadata, prompts: { ...records, ...toRecord(theirs.metadata.prompts) } }
    : {
        schema_version: "authorship/3.0.0",
        generator: GENERATOR,
        base_commit_sha: authored.commit.hash,
        prompts: records,
      };
  const rows = [...files].flatMap(([path, entries]) => [
    /\s/.test(path) ? `"${path}"` : path,
    ...entries.map(({ key, ranges }) => `  ${key} ${formatRanges(ranges)}`),
  ]);
  return {
    text: `${rows.join("\n")}\n---\n${JSON.stringify(metadata, null, 2)}\n`,
    isMerged: theirs !== undefined,
    disagreeing,
  };
}

/** The session that a note names for each line; null for a person. */
function claimsOf(note: Note, path: string): Map<number, string | null> {
  const claims = new Map<number, string | null>();
  for (const { key, ranges } of note.files.get(path) ?? []) {
    const session = agentOf(note, key)?.session ?? null;
    for (const line of linesOf(ranges)) claims.set(line, session);
  }
  return claims;
}

/** Lines of one note that are counted: a damaged note names ranges without an end. */
const MOST = 1_000_000;

function linesOf(ranges: readonly (readonly [number, number])[]): number[] {
  const lines: number[] = [];
  for (const [from, to] of ranges) for (let n = from; n <= to && lines.length < MOST; n++) lines.push(n);
  return lines;
}

const formatRanges = (ranges: readonly (readonly [number, number])[]): string =>
  ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(",");

function toRecordOf(
  { commit, files }: AuthoredCommit,
  one: Authored,
  prompts: readonly NotedPrompt[],
  cost: SessionCost | undefined,
): Json {
  const own = [...files.values()].flat().filter(({ session }) => session === one.session);
  const lines = own.reduce((sum, it) => sum + it.lines.length, 0);
  return {
    agent_id: { tool: toolOf(one), id: ownId(one), model: one.model ?? "unknown" },
    human_author: `${commit.author} <${commit.email}>`,
    messages: prompts.map(({ text, at }) => ({ type: "user", text, ...(at === null ? {} : { timestamp: at }) })),
    total_additions: lines,
    // The archive does not count the lines that a session removed.
    total_deletions: 0,
    accepted_lines: lines,
    // The standard's own spelling (its erratum E-001).
    overriden_lines: own.reduce((sum, { rewritten }) => sum + rewritten, 0),
    ...(cost && { custom_attributes: { microdollars: `${cost.microdollars}`, tokens: `${cost.tokens}` } }),
  };
}
