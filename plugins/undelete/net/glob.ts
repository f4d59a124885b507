/** Patterns of a shell as a test of paths. The test takes at most length of path × length of pattern steps, whatever the pattern is. */

/** More of either, and everything is matched. */
const ALTERNATIVES = 64;
const LONGEST = 4_096;

type Token =
  | { is: "one"; matches: (char: string) => boolean }
  /** `*`, or `**` if deep. `seesDot`: it may begin with a dot. `mayEnd`: the slash after it may be absent, as `**` matches no folder too. */
  | { is: "many"; deep: boolean; seesDot: boolean; mayEnd: boolean };

/** Names that begin with a dot are matched only if the pattern does, unless `dots`. */
export function toGlob(pattern: string, dots = false): (path: string) => boolean {
  if (pattern.length > LONGEST) return () => true;
  const patterns = alternatives(pattern);
  if (!patterns) return () => true;
  const all = patterns.map((one) => toTokens(one, dots));
  return (path) => all.some((tokens) => matchesAll(tokens, path));
}

/** `{a,b}` written out; undefined if there are too many. */
function alternatives(pattern: string): string[] | undefined {
  let done: string[] = [];
  let open = [pattern];
  while (open.length > 0) {
    if (done.length + open.length > ALTERNATIVES) return undefined;
    const next: string[] = [];
    for (const one of open) {
      const group = firstGroup(one);
      if (!group) done = [...done, one];
      else next.push(...group);
    }
    open = next;
  }
  return done;
}

function firstGroup(pattern: string): string[] | undefined {
  const from = pattern.indexOf("{");
  if (from < 0) return undefined;
  const parts: string[] = [];
  let depth = 0;
  let start = from + 1;
  for (let i = from; i < pattern.length; i++) {
    const char = pattern[i];
    if (char === "{") depth++;
    else if (char === "," && depth === 1) {
      parts.push(pattern.slice(start, i));
      start = i + 1;
    } else if (char === "}" && --depth === 0) {
      parts.push(pattern.slice(start, i));
      return parts.map((part) => pattern.slice(0, from) + part + pattern.slice(i + 1));
    }
  }
  return undefined;
}

function toTokens(pattern: string, dots: boolean): Token[] {
  const tokens: Token[] = [];
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern[i] ?? "";
    const seesDot = dots || !(i === 0 || pattern[i - 1] === "/");
    const set = char === "[" ? toSet(pattern, i) : undefined;
    if (char === "*") {
      const deep = pattern[i + 1] === "*";
      while (pattern[i + 1] === "*") i++;
      tokens.push({ is: "many", deep, seesDot: deep || seesDot, mayEnd: deep && pattern[i + 1] === "/" });
    } else if (char === "?") tokens.push({ is: "one", matches: (one) => one !== "/" && (seesDot || one !== ".") });
    else if (set) {
      tokens.push({ is: "one", matches: set.matches });
      i = set.end;
    } else tokens.push({ is: "one", matches: (one) => one === char });
  }
  return tokens;
}

/** `[a-z]`, `[!x]`; `end`: the place of its last bracket. */
function toSet(pattern: string, from: number): { matches: (char: string) => boolean; end: number } | undefined {
  const isNot = pattern[from + 1] === "!" || pattern[from + 1] === "^";
  const start = from + (isNot ? 2 : 1);
  const end = pattern.indexOf("]", start + 1);
  if (end < 0) return undefined;
  const body = pattern.slice(start, end);
  // A class (`[:alpha:]`) may be any character.
  if (body.includes("[:")) {
    const close = pattern.indexOf("]", end + 1);
    return { matches: (char) => char !== "/", end: close < 0 ? end : close };
  }
  const isIn = (char: string): boolean => {
    for (let i = 0; i < body.length; i++) {
      if (body[i + 1] === "-" && i + 2 < body.length) {
        if (char >= (body[i] ?? "") && char <= (body[i + 2] ?? "")) return true;
        i += 2;
      } else if (body[i] === char) return true;
    }
    return false;
  };
  return { matches: (char) => char !== "/" && isIn(char) !== isNot, end };
}

/** Follows all ways through the tokens at once. */
function matchesAll(tokens: readonly Token[], path: string): boolean {
  const passStars = (places: Set<number>): Set<number> => {
    for (const place of places) {
      const token = tokens[place];
      if (token?.is !== "many") continue;
      places.add(place + 1);
      if (token.mayEnd) places.add(place + 2);
    }
    return places;
  };
  let places = passStars(new Set([0]));
  for (let i = 0; i < path.length && places.size > 0; i++) {
    const char = path[i] ?? "";
    const isFirst = i === 0 || path[i - 1] === "/";
    const next = new Set<number>();
    for (const place of places) {
      const token = tokens[place];
      if (token?.is === "many") {
        const sees = token.deep || char !== "/";
        if (sees && (token.seesDot || !isFirst || char !== ".")) next.add(place);
      } else if (token?.matches(char)) next.add(place + 1);
    }
    places = passStars(next);
  }
  return places.has(tokens.length);
}
