/** Codex takes hooks in its TOML settings as well; where a user keeps them there, ours goes there too. */
import { parse, patch } from "@decimalturn/toml-patch";
import { isRecord, type Json, keepTomlComments, SessarcError } from "sessarc";

export function parseToml(text: string, path: string): { [key: string]: Json } {
  try {
    // Its objects have no prototype; ours that they are compared with do.
    const value: unknown = structuredClone(parse(text));
    if (isRecord(value)) return value as { [key: string]: Json };
  } catch {
    // Its messages quote the file, which may hold anything.
  }
  throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it does not parse as TOML" });
}

/** The text of one more entry of a list of tables: its own fields, and a table for each of its `hooks`. */
export function tomlEntry(list: readonly string[], entry: Json): string {
  const name = list.join(".");
  if (!isRecord(entry)) return "";
  const { hooks, ...own } = entry;
  const inner = Array.isArray(hooks) ? hooks.filter(isRecord) : [];
  return [
    `[[${name}]]`,
    ...fields(own),
    ...inner.flatMap((hook) => ["", `[[${name}.hooks]]`, ...fields(hook as object)]),
  ].join("\n");
}

/** JSON's strings and numbers are TOML's too. */
const fields = (table: object) => Object.entries(table).map(([key, value]) => `${key} = ${JSON.stringify(value)}`);

/** With the entry at the end; its text alone is added. */
export function appendToml(text: string, block: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const gap = text === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${block.replaceAll("\n", eol)}${eol}`;
}

/** Without the entry: its text taken out where it stands as we wrote it, else by its values, keeping comments. */
export function removeToml(text: string, block: string | undefined, wanted: { [key: string]: Json }): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const own = block && `${eol}${block.replaceAll("\n", eol)}${eol}`;
  return own && text.includes(own) ? text.replace(own, () => "") : keepTomlComments(text, patch(text, wanted));
}
