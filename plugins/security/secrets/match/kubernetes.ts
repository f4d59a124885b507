/** Whether a value is in a Kubernetes Secret: YAML and JSON. */
import type { Candidate } from "./candidate.ts";

/** The line is below `data:` of a document with `kind: Secret`. */
export function kubernetes(candidate: Candidate): boolean {
  return isIn(candidate, /^[\s\d+→|:-]*(?:data|stringData):\s*$/);
}

/** The line is below `stringData:`, where values are not encoded. */
export function kubernetesString(candidate: Candidate): boolean {
  return isIn(candidate, /^[\s\d+→|:-]*stringData:\s*$/);
}

function isIn({ text, from, start }: Candidate, parent: RegExp): boolean {
  const above = text.slice(Math.max(0, from - 8192), from);
  const below = text.slice(from, from + 8192);
  const next = below.indexOf("\n---");
  const document = above.slice(above.lastIndexOf("\n---") + 1) + (next < 0 ? below : below.slice(0, next));
  if (!/kind:[ \t]{0,5}["']?secret["']?\s/i.test(`${document}\n`)) return false;
  const lines = above.slice(-4096).split("\n");
  const own = toIndent(text.slice(from + 1, start));
  for (let i = lines.length - 1; i >= 0; i--) {
    const line = lines[i] ?? "";
    if (line.trim() === "" || toIndent(line) >= own) continue;
    return parent.test(line);
  }
  return false;
}

function toIndent(line: string): number {
  return /^(?:[ \t]*\d+[\t→:|]|[+-])?([ \t]*)/.exec(line)?.[1]?.length ?? 0;
}

/** Characters before and after a value in which its object begins and ends. */
const REACH = 16_384;

/** The value is in `"data"` or `"stringData"` of an object with `"kind": "Secret"`. */
export function kubernetesJson({ text, from }: Candidate): boolean {
  const first = Math.max(0, from - REACH);
  const above = text.slice(first, from);
  const map = openBrace(above, above.length);
  if (map < 0 || !/"(?:data|stringData)"\s*:\s*$/.test(above.slice(Math.max(0, map - 40), map))) return false;
  const object = openBrace(above, map);
  if (object < 0) return false;
  const own = text.slice(first + object, from + REACH);
  return KIND.test(own.slice(0, closeBrace(own)));
}

const KIND = /"kind"\s*:\s*"Secret"/;

/** The `{` that is open at `at`; -1 when none is. */
function openBrace(text: string, at: number): number {
  let depth = 0;
  for (let i = at - 1; i >= 0; i--) {
    const char = text.charAt(i);
    if (char === "}") depth++;
    else if (char === "{" && depth-- === 0) return i;
  }
  return -1;
}

/** Where the object that begins the text ends. */
function closeBrace(text: string): number {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i);
    if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return i + 1;
  }
  return text.length;
}
