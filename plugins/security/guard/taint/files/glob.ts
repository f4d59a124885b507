/** Patterns of shells and of tools, compared with the existing files. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** The work that remains for the patterns of one call. */
export interface GlobBudget {
  /** Names to compare. Opening a folder costs `FOLDER_COST` names. */
  names: number;
  /** Characters that expanding braces may produce. */
  characters: number;
  /** Some names were not compared, or some matches were left out. */
  cut: boolean;
}

const BRACES_LIMIT = 500;
const BRACES_DEPTH = 8;
const FOLDER_COST = 50;
const CLASSES = new Map(
  Object.entries({ lower: "a-z", upper: "A-Z", alpha: "A-Za-z", digit: "0-9", alnum: "A-Za-z0-9", word: "A-Za-z0-9_" }),
);
/** Folders that `**` skips. */
const LEFT_OUT = new Set(["node_modules", ".git"]);

/**
 * Returns the paths that match an absolute pattern: `*`, `?`, `[a-z]`, `{a,b}`, `{1..9}` within one name, `**` for any folders. At most
 * `limit` for each expansion of the braces. `hidden`: `*` matches names that begin with a dot, as in tools.
 */
export async function findMatching(
  pattern: string,
  limit: number,
  budget: GlobBudget,
  hidden = false,
): Promise<string[]> {
  const all: string[] = [];
  const readEntries = async (folder: string) => {
    if (budget.names <= 0) {
      budget.cut = true;
      return [];
    }
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    budget.names -= entries.length + FOLDER_COST;
    return entries;
  };
  const hides = (name: string, part: string) => !hidden && name.startsWith(".") && !part.startsWith(".");
  const below = async (folders: string[]) => {
    const found = [...folders];
    for (const folder of found)
      for (const entry of await readEntries(folder))
        if (entry.isDirectory() && !LEFT_OUT.has(entry.name) && !hides(entry.name, ""))
          found.push(join(folder, entry.name));
    return found;
  };
  for (const one of expandBraces(pattern, budget)) {
    let found = ["/"];
    const parts = one
      .replace(/\[:(\w+):\]/g, (text, name) => CLASSES.get(name) ?? text)
      .split("/")
      .filter(Boolean);
    if (parts.at(-1) === "**") parts.push("*");
    for (const part of parts) {
      if (part === "**") {
        found = await below(found);
        continue;
      }
      const next: string[] = [];
      for (const folder of found) {
        if (!/[*?[]/.test(part)) next.push(join(folder, part));
        else
          for (const { name } of await readEntries(folder))
            if (!hides(name, part) && fits(name, part)) next.push(join(folder, name));
      }
      found = next.slice(0, limit);
      budget.cut ||= next.length > limit;
    }
    all.push(...found);
  }
  return all;
}

/** `a{b,c}` → `ab`, `ac`; `{1..3}` → `1`, `2`, `3`. Returns only the first ones: three lists of a thousand make a billion. */
function expandBraces(pattern: string, budget: GlobBudget): string[] {
  let all = [pattern];
  for (let depth = 0; depth <= BRACES_DEPTH; depth++) {
    const next: string[] = [];
    let more = false;
    for (const one of all) {
      budget.cut ||= next.length > BRACES_LIMIT || budget.characters <= 0;
      if (next.length > BRACES_LIMIT || budget.characters <= 0) break;
      const list = findFirstList(one);
      more ||= list !== undefined;
      budget.characters -= one.length * (list?.options.length ?? 1);
      if (!list) next.push(one);
      else for (const option of list.options) next.push(list.before + option + list.behind);
    }
    if (!more) return next;
    budget.cut ||= next.length > BRACES_LIMIT || depth === BRACES_DEPTH;
    all = next.slice(0, BRACES_LIMIT);
  }
  return all;
}

function findFirstList(text: string): { before: string; options: string[]; behind: string } | undefined {
  for (const match of text.matchAll(/\{([^{}]*)\}/g)) {
    const [whole, inner = ""] = match;
    const options = inner.includes(",") ? inner.split(",", BRACES_LIMIT + 1) : expandRange(inner);
    if (options) return { before: text.slice(0, match.index), options, behind: text.slice(match.index + whole.length) };
  }
  return undefined;
}

/** `a..e`, `1..9..2`. */
function expandRange(text: string): string[] | undefined {
  const [, from, to, step] = /^(-?\d{1,9}|[A-Za-z])\.\.(-?\d{1,9}|[A-Za-z])(?:\.\.-?(\d{1,9}))?$/.exec(text) ?? [];
  if (from === undefined || to === undefined || /[a-z]/i.test(from) !== /[a-z]/i.test(to)) return undefined;
  const letters = /[a-z]/i.test(from);
  const [first, last] = letters ? [from.charCodeAt(0), to.charCodeAt(0)] : [Number(from), Number(to)];
  const by = Math.max(1, Number(step ?? 1)) * (last < first ? -1 : 1);
  const width = /^-?0\d/.test(from) || /^-?0\d/.test(to) ? Math.max(from.length, to.length) : 0;
  const count = Math.min(Math.floor((last - first) / by), BRACES_LIMIT) + 1;
  return Array.from({ length: count }, (_, n) =>
    letters ? String.fromCharCode(first + n * by) : String(first + n * by).padStart(width, "0"),
  );
}

/** Whether a name fits one of the patterns of a call, whose folders do not count. */
export function namesFit(name: string, patterns: readonly string[]): boolean {
  const budget: GlobBudget = { names: 0, characters: 20_000, cut: false };
  return patterns.some((pattern) =>
    expandBraces(pattern.slice(pattern.lastIndexOf("/") + 1), budget).some((one) => fits(name, one)),
  );
}

/** Backtracks only to the last `*`, so that no pattern is slow. */
function fits(name: string, pattern: string): boolean {
  let [at, from] = [0, 0];
  let star: { at: number; from: number } | undefined;
  while (at < name.length) {
    const width = from < pattern.length ? measureAt(name.charAt(at), pattern, from) : 0;
    if (pattern[from] === "*") star = { at, from: from++ };
    else if (width > 0) [at, from] = [at + 1, from + width];
    else if (star) {
      star.at++;
      [at, from] = [star.at, star.from + 1];
    } else return false;
  }
  while (pattern[from] === "*") from++;
  return from === pattern.length;
}

/** Length of the part of the pattern that matches this character; 0 if it does not match. */
function measureAt(char: string, pattern: string, from: number): number {
  const first = pattern[from];
  if (first === "?") return 1;
  const end = first === "[" ? pattern.indexOf("]", from + 2) : -1;
  if (end < 0) return first === char ? 1 : 0;
  const body = pattern.slice(from + 1, end);
  const negated = /^[!^]/.test(body);
  let inside = false;
  for (let i = negated ? 1 : 0; i < body.length; i++) {
    const last = body[i + 1] === "-" ? body[i + 2] : undefined;
    if (last !== undefined) {
      inside ||= char >= (body[i] as string) && char <= last;
      i += 2;
    } else inside ||= body[i] === char;
  }
  return inside !== negated ? end - from + 1 : 0;
}

/** Compiles patterns of paths: `*` is any name, `**` any folders, `{a,b}` a choice. A pattern without a leading `/` may begin in any folder. */
export function toExpression(list: readonly string[]): RegExp {
  const STARS: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };
  const one = (path: string) =>
    path
      .replace(/[.+()[\]^$|]/g, "\\$&")
      .replace(/\*\*\/|\*\*|[*?]/g, (stars) => STARS[stars] ?? stars)
      .replaceAll("{", "(?:")
      .replaceAll("}", ")")
      .replaceAll(",", "|");
  const anchored = (path: string) => `${/^\{?\//.test(path) ? "^" : "(?:^|/)"}${one(path)}$`;
  return new RegExp(list.map(anchored).join("|"), "i");
}
