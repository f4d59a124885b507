/**
 * Reads notes of the Git AI Standard v3 (`refs/notes/ai`): files with line ranges of the commit's version, a line `---`, and JSON with the
 * agents they are of. https://github.com/git-ai-project/git-ai/blob/main/specs/git_ai_standard_v3.0.0.md
 */
import { isRecord, toRecord, toText } from "sessarc";

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

/** Lines of one file, by the commit's own numbers. Empty for text that is not such a note. Lines by people are left out. */
export function readGitAi(note: string, path: string): Entry[] {
  const cut = note.search(/^---$/m);
  if (cut < 0) return [];
  const metadata = parse(note.slice(cut + 3));
  if (!toText(metadata.schema_version)?.startsWith("authorship/")) return [];
  const agents = { ...toRecord(metadata.prompts), ...toRecord(metadata.sessions) };
  const entries: Entry[] = [];
  let inside = false;
  for (const line of note.slice(0, cut).split("\n")) {
    if (!line.startsWith("  ")) {
      inside = line.replace(/^"(.*)"$/, "$1") === path;
      continue;
    }
    const [, key = "", ranges = ""] = /^ {2}(\S+) ([\d,-]+)$/.exec(line) ?? [];
    const { tool, model, id } = toRecord(toRecord(agents[key.split("::")[0] ?? ""]).agent_id);
    const name = toText(tool);
    if (!inside || name === undefined) continue;
    const agent = { tool: name, model: toText(model) ?? null, session: toText(id) ?? null };
    for (const range of ranges.split(",")) {
      const [from, to = from] = range.split("-").map(Number);
      if (from && to && from <= to) entries.push({ from, to, agent });
    }
  }
  return entries;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : {};
  } catch {
    return {}; // not a note of the standard
  }
}
