/** Other programs' settings as values. What the program itself would not read is an error with the place, never a part of it. */
import type { Node, ParseError } from "jsonc-parser";
import { SessarcError } from "../errors/error.ts";
import { isRecord, type JsonRecord } from "../utils/json.ts";

/** `commented`: JSON with comments; `jsonc`: with comments and trailing commas. */
export type SettingsSyntax = "json" | "commented" | "jsonc" | "toml";

/** Why settings cannot be read or edited; quotes nothing of them, which may hold anything. */
export class SettingsProblem extends Error {
  override readonly name = "SettingsProblem";
}

/** Runs `work` on the settings at `path`: its SettingsProblem is SETTINGS_UNUSABLE, which names the file. */
export async function usable<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (!(cause instanceof SettingsProblem)) throw cause;
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: cause.message }, { cause });
  }
}

/** An empty text is an empty object. Throws SettingsProblem. */
export async function parseSettings(text: string, syntax: SettingsSyntax): Promise<JsonRecord> {
  if (text.trim() === "") return {};
  const value = syntax === "toml" ? await parseToml(text) : await parseJson(text, syntax);
  if (!isRecord(value)) throw new SettingsProblem("it holds no object");
  return value;
}

async function parseToml(text: string): Promise<unknown> {
  const { parse } = await import("@decimalturn/toml-patch");
  try {
    // Its objects have no prototype; ours that they are compared with do.
    return structuredClone(parse(text));
  } catch {
    throw new SettingsProblem("it does not parse as TOML");
  }
}

async function parseJson(text: string, syntax: "json" | "commented" | "jsonc"): Promise<unknown> {
  const jsonc = await import("jsonc-parser");
  const problems: ParseError[] = [];
  const options = { allowTrailingComma: syntax === "jsonc", disallowComments: syntax === "json" };
  const tree = jsonc.parseTree(text, problems, options);
  const [problem] = problems;
  if (problem || !tree) {
    const line = text.slice(0, problem?.offset ?? 0).split("\n").length;
    const what = problem ? jsonc.printParseErrorCode(problem.error) : "ValueExpected";
    const comment = what === "InvalidCommentToken" ? " (comments make the tool drop the whole file)" : "";
    throw new SettingsProblem(`line ${line} does not parse: ${what}${comment}`);
  }
  return valueIn(tree, text);
}

/** Like JSON.parse, but a duplicate key is an error: which of the two is meant cannot be known. */
function valueIn(node: Node, text: string): unknown {
  if (node.type === "array") return (node.children ?? []).map((child) => valueIn(child, text));
  if (node.type !== "object") return node.value;
  const names = new Set<unknown>();
  const entries = (node.children ?? []).map(({ children: [key, value] = [] }) => {
    if (names.has(key?.value)) {
      const line = text.slice(0, key?.offset ?? 0).split("\n").length;
      throw new SettingsProblem(`line ${line} repeats a name`);
    }
    names.add(key?.value);
    return [String(key?.value), value && valueIn(value, text)] as const;
  });
  return Object.fromEntries(entries);
}
