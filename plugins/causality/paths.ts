/** Paths as keys: absolute, with forward slashes; and the paths a text names. */

export interface Place {
  path: string;
  dir: string;
  /** File name without its extensions and without what marks a test: `auth` of `auth.test.ts`, `test_auth.py` and `Auth.vue`. */
  stem: string;
}

/** `cwd` is what relative paths are relative to. Known places are remembered by the caller. */
export function toPlace(raw: string, cwd: string): Place {
  let text = raw.includes("\\") ? raw.replaceAll("\\", "/") : raw;
  if (!/^(\/|~|[A-Za-z]:)/.test(text)) text = `${cwd.replaceAll("\\", "/")}/${text}`;
  const path = /\/\.{0,2}(?:\/|$)/.test(text) ? resolved(text) : text;
  const cut = path.lastIndexOf("/");
  const name = path.slice(cut + 1);
  return { path, dir: path.slice(0, Math.max(0, cut)), stem: stemOf(name) };
}

/** The text in memory of its own: a piece of a chunk's text would keep the whole chunk for as long as somebody has the piece. */
export const own = (text: string): string =>
  text.length < 13 || !text.isWellFormed() ? text : Buffer.from(text, "utf8").toString("utf8");

function resolved(text: string): string {
  const parts: string[] = [];
  for (const part of text.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  return (text.startsWith("/") ? "/" : "") + parts.join("/");
}

function stemOf(name: string): string {
  const from = name.startsWith(".") ? 1 : 0;
  const dot = name.indexOf(".", from);
  const stem = name.slice(from, dot < 0 ? undefined : dot).toLowerCase();
  return stem.includes("test") || stem.includes("spec") ? stem.replace(/^tests?[_-]|[_-](?:tests?|spec)$/g, "") : stem;
}

const TEXT_LIMIT = 8_192;
const PATHS = 100;
const LONGEST = 300;
const EXTENSION = /^[A-Za-z]\w{0,7}$/;

/** Characters a path is made of, by code. */
const PART = new Uint8Array(128);
for (const char of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@.+~/\\-")
  PART[char.charCodeAt(0)] = 1;
const isPart = (code: number) => code < 128 && PART[code] === 1;

/** Paths that the start of `text` (8 K characters) names, at most 100. Linear: from dot to dot, each character looked at twice at most. */
export function pathsInText(text: string): Set<string> {
  const found = new Set<string>();
  const limit = Math.min(text.length, TEXT_LIMIT);
  let end = 0;
  for (let dot = text.indexOf("."); dot >= 0 && dot < limit; dot = text.indexOf(".", end)) {
    let start = dot;
    while (start > end && isPart(text.charCodeAt(start - 1))) start--;
    end = dot + 1;
    while (end < limit && isPart(text.charCodeAt(end))) end++;
    const run = text.slice(start, end);
    if (run.length > LONGEST || !namesFile(run)) continue;
    found.add(run);
    if (found.size >= PATHS) break;
  }
  return found;
}

/** A name, a dot, an extension. */
function namesFile(run: string): boolean {
  const dot = run.lastIndexOf(".");
  return dot > 0 && /[\w-]/.test(run[dot - 1] as string) && EXTENSION.test(run.slice(dot + 1));
}
