/** Patterns of a shell as a test of paths. */

/** More of them, and everything is matched: a test must not take long. */
const STARS = 8;

/** Names that begin with a dot are matched only if the pattern does, unless `dots`. */
export function toGlob(pattern: string, dots = false): (path: string) => boolean {
  if ((pattern.match(/\*+/g) ?? []).length > STARS || pattern.length > 4_096) return () => true;
  let source = "";
  let depth = 0;
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] ?? "";
    const isFirst = i === 0 || pattern[i - 1] === "/";
    const visible = isFirst && !dots ? "(?!\\.)" : "";
    const set = char === "[" ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(pattern.slice(i)) : null;
    if (char === "*") {
      const isDeep = pattern[i + 1] === "*";
      source += visible + (isDeep ? ".*" : "[^/]*");
      if (isDeep) i++;
    } else if (char === "?") source += `${visible}[^/]`;
    else if (set) {
      source += `[${set[1] ? "^/" : ""}${(set[2] ?? "").replace(/[\\\]^]/g, "\\$&")}]`;
      i += set[0].length - 1;
    } else if (char === "{" && pattern.includes("}", i)) {
      depth++;
      source += "(?:";
    } else if (char === "}" && depth > 0) {
      depth--;
      source += ")";
    } else if (char === "," && depth > 0) source += "|";
    else source += char.replace(/[\\^$.|?*+()[\]{}]/g, "\\$&");
  }
  try {
    const expression = new RegExp(`^${source}${")".repeat(depth)}$`, "s");
    return (path) => expression.test(path);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return () => true;
  }
}
