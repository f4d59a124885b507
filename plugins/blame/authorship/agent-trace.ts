/**
 * Agent Trace 0.1: a record names, for each file of a revision, the lines of each conversation with an assistant.
 * https://agent-trace.dev/schemas/v1/trace-record.json
 */
import { createHash } from "node:crypto";
import { VERSION } from "sessarc";
import { type Authored, toRanges } from "./authorship.ts";

export interface TraceRecord {
  /** Of the format. */
  version: "0.1";
  /** Made of the record's content: the same lines have the same id. */
  id: string;
  /** ISO 8601 UTC: when the revision was committed. */
  timestamp: string;
  vcs: { type: "git"; revision: string };
  tool: { name: "sessarc"; version: string };
  files: {
    path: string;
    conversations: {
      /** `urn:sessarc:session:<id>`: an identifier, not an address. */
      url: string;
      contributor: { type: "ai"; model_id?: string };
      ranges: { start_line: number; end_line: number }[];
    }[];
  }[];
}

/** `at`: committer time. Lines without a session are in no range: who wrote them is not known. */
export function toTraceRecord(
  commit: { hash: string; at: string },
  files: ReadonlyMap<string, readonly Pick<Authored, "session" | "model" | "lines">[]>,
): TraceRecord {
  const content = {
    timestamp: commit.at,
    vcs: { type: "git" as const, revision: commit.hash },
    files: [...files].map(([path, authors]) => ({
      path,
      conversations: authors.map(({ session, model, lines }) => ({
        url: `urn:sessarc:session:${encodeURIComponent(session)}`,
        contributor: { type: "ai" as const, ...(model === null ? {} : { model_id: toModelId(model) }) },
        ranges: toRanges(lines).map(([start_line, end_line]) => ({ start_line, end_line })),
      })),
    })),
  };
  return {
    version: "0.1",
    id: toUuid(JSON.stringify(content)),
    ...content,
    tool: { name: "sessarc", version: VERSION },
  };
}

/** Makers of models by how their names begin, as models.dev names them. */
const MAKERS: readonly (readonly [RegExp, string])[] = [
  [/^claude/i, "anthropic"],
  [/^(gpt|o\d|codex|chatgpt)/i, "openai"],
  [/^gemini/i, "google"],
  [/^grok/i, "xai"],
  [/^(mistral|codestral|devstral|magistral)/i, "mistral"],
  [/^deepseek/i, "deepseek"],
  [/^qwen/i, "alibaba"],
  [/^(kimi|moonshot)/i, "moonshotai"],
  [/^glm/i, "zai"],
];

/** `anthropic/claude-…`; the name alone where its maker is not known. At most 250 characters. */
function toModelId(model: string): string {
  const maker = model.includes("/") ? undefined : MAKERS.find(([start]) => start.test(model))?.[1];
  return (maker === undefined ? model : `${maker}/${model}`).slice(0, 250);
}

/** A UUID of version 8 (RFC 9562), made of a text. */
function toUuid(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
