/** Patterns of a shell, compared with what is there. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

/** What is left for the patterns of one call. */
export interface Looking {
  /** Names in folders compared; opening a folder is `FOLDER_COST` of them. */
  names: number;
  /** There was more to compare, or more that matched. */
  cut: boolean;
}

const BRACES_LIMIT = 500;
const FOLDER_COST = 50;

/** The paths that an absolute pattern stands for: `*`, `?`, `[a-z]`, `{a,b}`, each within one name. At most `limit` for each way to read its braces. */
export async function matching(pattern: string, limit: number, looking: Looking): Promise<string[]> {
  const all: string[] = [];
  const namesIn = async (folder: string) => {
    if (looking.names <= 0) {
      looking.cut = true;
      return [];
    }
    const names = await readdir(folder).catch(() => []);
    looking.names -= names.length + FOLDER_COST;
    return names;
  };
  for (const one of braces(pattern, looking)) {
    let found = ["/"];
    for (const part of one.split("/").filter(Boolean)) {
      const next: string[] = [];
      for (const folder of found) {
        if (!/[*?[]/.test(part)) next.push(join(folder, part));
        else for (const name of await namesIn(folder)) if (fits(name, part)) next.push(join(folder, name));
      }
      found = next.slice(0, limit);
      looking.cut ||= next.length > limit;
    }
    all.push(...found);
  }
  return all;
}

/** `a{b,c}` → `ab`, `ac`. The first ones: three lists of a thousand would be a thousand million. */
function braces(pattern: string, looking: Looking): string[] {
  let all = [pattern];
  for (let depth = 0; depth < 4; depth++) {
    const next: string[] = [];
    for (const one of all) {
      if (next.length > BRACES_LIMIT) break;
      const match = /\{([^{}]*,[^{}]*)\}/.exec(one);
      const [before, after] = [one.slice(0, match?.index), one.slice((match?.index ?? 0) + (match?.[0].length ?? 0))];
      if (match) for (const option of match[1]?.split(",", BRACES_LIMIT + 1) ?? []) next.push(before + option + after);
      else next.push(one);
    }
    looking.cut ||= next.length > BRACES_LIMIT;
    all = next.slice(0, BRACES_LIMIT);
  }
  return all;
}

/** Hidden files want their dot. Goes back to the last `*` alone, so that no pattern is slow. */
function fits(name: string, pattern: string): boolean {
  if (name.startsWith(".") && !pattern.startsWith(".")) return false;
  let [at, from] = [0, 0];
  let star: { at: number; from: number } | undefined;
  while (at < name.length) {
    const width = from < pattern.length ? widthAt(name.charAt(at), pattern, from) : 0;
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

/** Length of the part of the pattern that takes this character; 0 when it does not. */
function widthAt(char: string, pattern: string, from: number): number {
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
