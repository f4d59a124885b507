/** What an update would bring that a person should look at before it is there. */

import type { Frontmatter } from "../content/frontmatter.ts";
import type { TreeEntry } from "../content/tree.ts";

export interface Risk {
  kind: "new-script" | "changed-script" | "wider-tools" | "new-address" | "hidden-text" | "binary";
  /** File that holds it. */
  path: string;
  detail: string;
}

/** One side: entries, and the text of a file (undefined for anything but text). */
export interface Side {
  entries: readonly TreeEntry[];
  text(path: string): string | undefined;
  front: Pick<Frontmatter, "allowedTools"> | undefined;
}

const SCRIPT = /\.(sh|bash|zsh|fish|ps1|bat|cmd|py|js|mjs|cjs|ts|rb|pl|php|lua|go|rs|swift|applescript)$/i;
const ADDRESS = /\b(?:https?|wss?|ftp|ssh|git):\/\/([a-z0-9.-]+(?::\d+)?)|\b(\d{1,3}(?:\.\d{1,3}){3})\b/gi;
/** Characters that a person does not see: zero width, direction, tags. */
const HIDDEN = /[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u{e0001}-\u{e007f}]/u;

export function toRisks(before: Side, after: Side): Risk[] {
  const risks: Risk[] = [];
  const old = new Map(before.entries.map((entry) => [entry.path, entry]));
  const known = toAddresses(before);
  for (const entry of after.entries) {
    if (entry.kind !== "file") continue;
    const { path } = entry;
    const was = old.get(path);
    const same = was?.kind === "file" && was.hash === entry.hash;
    const runs = isScript(entry, after.text(path));
    const ran = was?.kind === "file" && isScript(was, before.text(path));
    if (runs && !ran) risks.push({ kind: "new-script", path, detail: was ? "It can be run now" : "A new script" });
    else if (runs && !same) risks.push({ kind: "changed-script", path, detail: "The script is another one" });
    if (same) continue;
    const text = after.text(path);
    if (text === undefined) risks.push({ kind: "binary", path, detail: `${entry.size} bytes that are no text` });
    else if (HIDDEN.test(text) && !HIDDEN.test(before.text(path) ?? ""))
      risks.push({ kind: "hidden-text", path, detail: "It holds characters that cannot be seen" });
    for (const address of addressesIn(text ?? "")) {
      if (known.has(address)) continue;
      known.add(address);
      risks.push({ kind: "new-address", path, detail: address });
    }
  }
  const wider = widerTools(before.front?.allowedTools, after.front?.allowedTools);
  if (wider) risks.push({ kind: "wider-tools", path: "SKILL.md", detail: wider });
  return risks;
}

/** Without a list a tool asks as it always does: to have none is not wider, to have one is, as far as its names are new. */
function widerTools(before: readonly string[] | null | undefined, after: readonly string[] | null | undefined) {
  const added = (after ?? []).filter((name) => !(before ?? []).includes(name));
  return added.length > 0 ? `It may use without asking: ${added.join(", ")}` : undefined;
}

function isScript(entry: TreeEntry, text: string | undefined): boolean {
  if (entry.kind !== "file") return false;
  return (entry.mode & 0o111) !== 0 || SCRIPT.test(entry.path) || /^#!/.test(text ?? "");
}

function toAddresses(side: Side): Set<string> {
  return new Set(side.entries.flatMap((entry) => [...addressesIn(side.text(entry.path) ?? "")]));
}

function* addressesIn(text: string): Generator<string> {
  for (const match of text.matchAll(ADDRESS)) {
    const address = (match[1] ?? match[2] ?? "").toLowerCase().replace(/\.$/, "");
    if (address !== "") yield address;
  }
}
