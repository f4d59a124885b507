/** Paths as keys: absolute, with forward slashes; and the paths a text names. */

interface PathPlace {
  path: string;
  dir: string;
  /** File name without its extensions and without what marks a test: `auth` of `auth.test.ts`, `test_auth.py` and `Auth.vue`. */
  stem: string;
}

/** `cwd` is what relative paths are relative to. Known places are remembered by the caller. */
export function toPlace(raw: string, cwd: string): PathPlace {
  let text = raw.includes("\\") ? raw.replaceAll("\\", "/") : raw;
  if (!/^(\/|~|[A-Za-z]:)/.test(text)) text = `${cwd.replaceAll("\\", "/")}/${text}`;
  const path = /\/\.{0,2}(?:\/|$)/.test(text) ? resolved(text) : text;
  const cut = path.lastIndexOf("/");
  const name = path.slice(cut + 1);
  return { path, dir: path.slice(0, Math.max(0, cut)), stem: toStem(name) };
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

function toStem(name: string): string {
  const from = name.startsWith(".") ? 1 : 0;
  const dot = name.indexOf(".", from);
  const stem = name.slice(from, dot < 0 ? undefined : dot).toLowerCase();
  return stem.includes("test") || stem.includes("spec") ? stem.replace(/^tests?[_-]|[_-](?:tests?|spec)$/g, "") : stem;
}

const TEXT_LIMIT = 8_192;
// A run of such characters that ends in a name, a dot and an extension. Tried where a run begins and nowhere else, and bounded: a long
// run costs no more than its length.
const PATH = /(?<![\w@.+~/\\-])[\w@.+~/\\-]{0,290}[\w-]\.[A-Za-z]\w{0,7}(?![\w@.+~/\\-])/g;

/** What the start of `text` (8 K characters) names as paths, as often as it does. Linear. */
export function pathsInText(text: string): readonly string[] {
  return text.slice(0, TEXT_LIMIT).match(PATH) ?? [];
}

/** Whether `text` names a file by its `stem`, as a word: an import, a call, a mention. */
export function listSpeaks(text: string, stem: string): boolean {
  if (stem.length < 2) return false;
  for (let at = text.indexOf(stem); at >= 0; at = text.indexOf(stem, at + 1)) {
    if (!isWord(text[at - 1]) && !isWord(text[at + stem.length])) return true;
  }
  return false;
}

const isWord = (char: string | undefined) => char !== undefined && /[\p{L}\p{N}_]/u.test(char);
