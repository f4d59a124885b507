/** Paths as keys: absolute, with forward slashes; and the paths a text names. */

export interface Place {
  path: string;
  dir: string;
  /** File name without its extensions and without what marks a test: `auth` of `auth.test.ts`, `test_auth.py` and `Auth.vue`. */
  stem: string;
}

/** `cwd` is what relative paths are relative to. Known places are remembered by the caller. */
export function toPlace(raw: string, cwd: string): Place {
  let text = raw.replaceAll("\\", "/");
  if (!/^(\/|~|[A-Za-z]:)/.test(text)) text = `${cwd.replaceAll("\\", "/")}/${text}`;
  const parts: string[] = [];
  for (const part of text.split("/")) {
    if (part === "" || part === ".") continue;
    if (part === "..") parts.pop();
    else parts.push(part);
  }
  const name = parts.at(-1) ?? "";
  const lead = text.startsWith("/") ? "/" : "";
  const stem =
    name
      .replace(/^\.+/, "")
      .split(".")[0]
      ?.toLowerCase()
      .replace(/^tests?[_-]|[_-](?:tests?|spec)$/g, "") ?? "";
  return { path: lead + parts.join("/"), dir: lead + parts.slice(0, -1).join("/"), stem };
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
