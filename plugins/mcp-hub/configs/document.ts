/** A configuration as values. What its tool would not read is an error with the place, never a part of it. */
import * as jsonc from "jsonc-parser";
import { isRecord, type JsonRecord, type McpContract, SessarcError } from "sessarc";

export type Syntax = McpContract["syntax"];

/** Throws SETTINGS_UNUSABLE; no message quotes the file, which may hold anything. */
export async function parseConfig(text: string, syntax: Syntax, path: string): Promise<JsonRecord> {
  if (text.trim() === "") return {};
  const value = syntax === "toml" ? await parseToml(text, path) : parseJson(text, syntax, path);
  if (!isRecord(value)) throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it holds no object" });
  return value;
}

async function parseToml(text: string, path: string): Promise<unknown> {
  const { parse } = await import("@decimalturn/toml-patch");
  try {
    // Its objects have no prototype; ours that they are compared with do.
    return structuredClone(parse(text));
  } catch {
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it does not parse as TOML" });
  }
}

function parseJson(text: string, syntax: "json" | "jsonc", path: string): unknown {
  const problems: jsonc.ParseError[] = [];
  const options = { allowTrailingComma: syntax === "jsonc", disallowComments: syntax === "json" };
  const tree = jsonc.parseTree(text, problems, options);
  const [problem] = problems;
  if (problem || !tree) {
    const line = text.slice(0, problem?.offset ?? 0).split("\n").length;
    const what = problem ? jsonc.printParseErrorCode(problem.error) : "ValueExpected";
    const comment = what === "InvalidCommentToken" ? " (comments make the tool drop the whole file)" : "";
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: `line ${line} does not parse: ${what}${comment}` });
  }
  return valueIn(tree, text, path);
}

/** As JSON.parse makes it, but that a name which stands twice is an error: which of the two is meant is not ours to guess. */
function valueIn(node: jsonc.Node, text: string, path: string): unknown {
  if (node.type === "array") return (node.children ?? []).map((child) => valueIn(child, text, path));
  if (node.type !== "object") return node.value;
  const names = new Set<unknown>();
  const entries = (node.children ?? []).map(({ children: [key, value] = [] }) => {
    if (names.has(key?.value)) {
      const line = text.slice(0, key?.offset ?? 0).split("\n").length;
      throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: `line ${line} has a name that stands there twice` });
    }
    names.add(key?.value);
    return [String(key?.value), value && valueIn(value, text, path)] as const;
  });
  return Object.fromEntries(entries);
}
