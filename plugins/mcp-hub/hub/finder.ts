/** Two tools instead of all of them, for clients that drown in schemas: one finds, one calls. */
import { type JsonRecord, toText } from "sessarc";
import { estimateTokens } from "./stats.ts";

export const FIND = "find_tools";
export const CALL = "call_tool";

export const FINDER_TOOLS: readonly JsonRecord[] = [
  {
    name: FIND,
    title: "Find tools",
    description:
      "Finds tools of all connected services by what they do. Answers names, descriptions and input schemas; call one with call_tool.",
    inputSchema: {
      type: "object",
      properties: {
        query: { type: "string", description: "Words of what is to be done; empty lists names only" },
        limit: { type: "integer", minimum: 1, maximum: 50, default: 8 },
      },
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: CALL,
    title: "Call a tool",
    description: "Calls a tool that find_tools named, with arguments as its input schema has them.",
    inputSchema: {
      type: "object",
      properties: { name: { type: "string" }, arguments: { type: "object" } },
      required: ["name"],
    },
  },
];

/** The tools that fit best, as the result of `find_tools`. */
export function findTools(tools: readonly JsonRecord[], args: JsonRecord): JsonRecord {
  const words = (toText(args.query) ?? "").toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const limit = typeof args.limit === "number" ? Math.max(1, Math.min(50, Math.floor(args.limit))) : 8;
  if (words.length === 0) return answer({ names: tools.map(({ name }) => name) });
  const scored = tools
    .map((tool) => ({ tool, score: computeScore(tool, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const found = scored
    .slice(0, limit)
    .map(({ tool: { name, description, inputSchema } }) => ({ name, description, inputSchema }));
  return answer({ tools: found, more: Math.max(0, scored.length - limit) });
}

/** A word in the name counts for more than one in the description, and both for more than one in the arguments. */
function computeScore(tool: JsonRecord, words: readonly string[]): number {
  const name = String(tool.name).toLowerCase();
  const about = `${tool.title ?? ""} ${tool.description ?? ""}`.toLowerCase();
  const schema = JSON.stringify(tool.inputSchema ?? "").toLowerCase();
  let score = 0;
  for (const word of words) score += name.includes(word) ? 6 : about.includes(word) ? 3 : schema.includes(word) ? 1 : 0;
  return score;
}

const answer = (value: JsonRecord): JsonRecord => ({ content: [{ type: "text", text: JSON.stringify(value) }] });

/** Tokens that a list of tools costs a client, and what the two above cost instead. */
export const toTokens = (tools: readonly JsonRecord[]) => ({
  all: estimateTokens(tools),
  search: estimateTokens(FINDER_TOOLS),
});
