/** `workspace.yaml` of a session folder: flat `key: value` lines. */
import { openRegular } from "sessarc/files";

const BOUND = 64 * 1024;

/**
 * Flat scalars only, which is all the tool writes (1.0.102): nested blocks, lists and block texts are left out. No YAML
 * package is needed for that. Never throws.
 */
export function parseFlatYaml(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const [, key, rest] = line.match(/^([A-Za-z_][\w-]*):(?:[ \t]+(.*?))?[ \t]*\r?$/) ?? [];
    const value = key === undefined ? undefined : scalar(rest ?? "");
    if (key !== undefined && value !== undefined) values.set(key, value);
  }
  return values;
}

/** The file's values; empty when it is absent. Reads at most 64 KB. */
export async function readWorkspace(path: string): Promise<ReadonlyMap<string, string>> {
  const file = await openRegular(path).catch(() => undefined); // flat logs have none
  if (!file) return new Map();
  try {
    const bytes = Buffer.alloc(BOUND);
    const { bytesRead } = await file.read(bytes, 0, BOUND, 0);
    return parseFlatYaml(bytes.toString("utf8", 0, bytesRead));
  } finally {
    await file.close();
  }
}

function scalar(text: string): string | undefined {
  if (text.startsWith('"')) {
    try {
      const value: unknown = JSON.parse(text);
      return typeof value === "string" ? value : undefined;
    } catch {
      return undefined; // spans lines, or an escape JSON does not have
    }
  }
  if (text.startsWith("'")) return /^'(?:[^']|'')*'$/.test(text) ? text.slice(1, -1).replaceAll("''", "'") : undefined;
  if (/^[|>[{&*!%@`]/.test(text)) return undefined;
  const plain = text.replace(/(?:^|\s+)#.*$/, "");
  return plain === "" || plain === "~" || plain === "null" ? undefined : plain;
}
