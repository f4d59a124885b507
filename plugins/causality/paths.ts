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

const TEXT_LIMIT = 16_384;
const PATHS = 100;
// One bounded class, so that a long run of such characters costs no more than its length.
const RUN = /[\w@.+~/\\-]{3,300}/g;
const FILE = /^(?:[A-Za-z]:)?[^\s]*[\w-]\.[A-Za-z]\w{0,7}$/;

/** Paths that the start of `text` (16 K characters) names, at most 100. Linear. */
export function pathsInText(text: string): Set<string> {
  const found = new Set<string>();
  for (const [run] of text.slice(0, TEXT_LIMIT).matchAll(RUN)) {
    if (!run.includes(".") || !FILE.test(run)) continue;
    found.add(run);
    if (found.size >= PATHS) break;
  }
  return found;
}
