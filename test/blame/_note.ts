/** A strict reader of the Git AI Standard v3, written from its text: throws where a note breaks a rule of it. */
interface PromptRecord {
  agent_id: { tool: string; id: string; model: string };
  messages: unknown[];
  accepted_lines: number;
}

interface Metadata extends Record<string, unknown> {
  schema_version: string;
  base_commit_sha: string;
  prompts: Record<string, PromptRecord>;
}

interface Attested {
  agent: PromptRecord["agent_id"];
  lines: number[];
}

export function readNote(text: string): { files: Map<string, Attested[]>; metadata: Metadata } {
  const rows = text.split("\n");
  const divider = rows.indexOf("---");
  if (divider < 0) throw new Error("no divider");
  const metadata = JSON.parse(rows.slice(divider + 1).join("\n")) as Metadata;
  if (metadata.schema_version !== "authorship/3.0.0") throw new Error("schema_version");
  if (typeof metadata.base_commit_sha !== "string") throw new Error("base_commit_sha");
  for (const [hash, one] of Object.entries(metadata.prompts)) {
    if (!/^[0-9a-f]{16}$/.test(hash)) throw new Error(`hash ${hash}`);
    for (const name of ["tool", "id", "model"] as const)
      if (typeof one.agent_id[name] !== "string") throw new Error(`agent_id.${name}`);
    if (!Array.isArray(one.messages)) throw new Error("messages");
  }
  const files = new Map<string, Attested[]>();
  let entries: Attested[] | undefined;
  for (const row of rows.slice(0, divider)) {
    const entry = /^ {2}([0-9a-f]{16}) (\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*)$/.exec(row);
    if (!entry) {
      if (/^\s|^$/.test(row)) throw new Error(`neither path nor entry: ${row}`);
      const quoted = /^"(.+)"$/.exec(row)?.[1];
      if (quoted === undefined && /\s/.test(row)) throw new Error(`a path with blanks needs quotes: ${row}`);
      if (entries?.length === 0) throw new Error("a file without lines");
      entries = [];
      files.set(quoted ?? row, entries);
      continue;
    }
    const [, hash = "", ranges = ""] = entry;
    const agent = metadata.prompts[hash]?.agent_id;
    if (!agent) throw new Error(`no record for ${hash}`);
    const lines = ranges.split(",").flatMap((range) => {
      const [from = 0, to = from] = range.split("-").map(Number);
      if (from < 1 || to < from) throw new Error(`range ${range}`);
      return Array.from({ length: to - from + 1 }, (_, i) => from + i);
    });
    if (lines.some((line, i) => i > 0 && line <= (lines[i - 1] ?? 0))) throw new Error(`not ascending: ${ranges}`);
    entries?.push({ agent, lines });
  }
  return { files, metadata };
}
