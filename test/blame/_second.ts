/**
 * A made-up project whose sessions, people and automatic commits follow each other within one or two seconds, with short lines that are
 * alike. The oracle notes who wrote each line. All follows from the seed.
 */
import { type Repo, T0 } from "../git/_repo.ts";
import type { Call } from "./_session.ts";
import { type Commit, createRandom, type Line, writeRepository } from "./_world.ts";

interface SecondLine extends Line {
  /** Place of the commit that took it first. */
  born?: number;
}
type Files = Map<string, SecondLine[]>;

interface SecondCommit {
  subject: string;
  files: ReadonlyMap<string, readonly SecondLine[]>;
  /** Files with calls in the commit's second, or in that of the commit of the file before. */
  open: ReadonlySet<string>;
}

export interface Second {
  /** Lines at HEAD. */
  files: ReadonlyMap<string, readonly SecondLine[]>;
  sessions: Call[][];
  /** Oldest first. */
  commits: SecondCommit[];
  /** What happened, for a reader of a miss. */
  story: string[];
}

const SHORT = [
  ...["return null;", "i++;", "break;", "done();", "save(user);", "load(item);", "const a = 1;", "const b = 2;"],
  ...["let total = 0;", "total += price;", "if (!user) return;", "next(item);", "}", "});", "", "try {", "log(total);"],
];

export function makeSecond(seed: number, repo: Repo): Second {
  const random = createRandom(`second ${seed}`);
  const chance = (percent: number) => random.between(1, 100) <= percent;
  const pick = <T>(list: readonly T[]): T => list[random.between(0, list.length - 1)] as T;
  const sessions: Call[][] = Array.from({ length: random.between(1, 3) }, () => []);
  const commits: (Commit & { files: Files })[] = [];
  const story: string[] = [];
  /** Second and path of each call. */
  const calls = new Set<string>();
  /** ms after T0. */
  let clock = -1_000_000;
  let work: Files = new Map();
  let serial = 0;
  /** Distinct lines in this world are rare or common. */
  const variety = pick([10, 40, 80]);

  const copy = (files: Files): Files => new Map([...files].map(([path, lines]) => [path, [...lines]]));
  const text = (lines: readonly Line[]) => lines.map((line) => `${line.text}\n`).join("");
  const tell = (what: string) => story.push(`${clock} ${what}`);
  const fresh = () => (chance(variety) ? `set(${pick(["a", "b", "c"])}${random.between(1, 60)});` : pick(SHORT));
  const block = (who: number, low = 1, high = 3): SecondLine[] =>
    Array.from({ length: random.between(low, high) }, () => ({ text: fresh(), who, also: [], intact: true }));
  const anyFile = () => pick([...work.keys()].sort());

  const commit = (message: string, only?: string): void => {
    const head = commits.at(-1);
    const files = only === undefined || !head ? copy(work) : copy(head.files);
    if (only !== undefined) files.set(only, [...(work.get(only) ?? [])]);
    if (head && [...files].every(([path, lines]) => text(lines) === text(head.files.get(path) ?? [])) && !chance(10))
      return;
    const place = commits.length;
    for (const lines of files.values()) for (const line of lines) line.born ??= place;
    const seconds = T0 + Math.floor(clock / 1_000);
    commits.push({
      ...{ mark: place + 1, parents: head ? [head.mark] : [], author: "Ada", authored: seconds, committed: seconds },
      ...{ message: `${message} ${serial++}`, files, clean: false },
    });
    tell(`commit ${message} ${serial - 1} ${only ?? ""}`);
  };

  /** A range of lines whose text occurs once in the file. */
  const uniqueRange = (lines: readonly Line[], most: number): [from: number, count: number] | undefined => {
    const whole = `\n${text(lines)}`;
    for (let tries = 0; tries < 12; tries++) {
      const from = random.between(0, Math.max(0, lines.length - 1));
      const count = Math.min(random.between(1, most), lines.length - from);
      const part = `\n${text(lines.slice(from, from + count))}`;
      if (part.trim() !== "" && whole.split(part).length === 2 && whole.split(part.slice(1, -1)).length === 2)
        return [from, count];
    }
    return undefined;
  };

  /** An edit by a session, or by a person (-1), who leaves no log. */
  const edit = (who: number, path: string, from: number, count: number, put: readonly SecondLine[]): void => {
    const lines = work.get(path) ?? [];
    const old = lines.slice(from, from + count);
    lines.splice(from, count, ...put);
    const isCut = put.length > 0 && old.length > 0 && chance(50);
    const [before = "", after = ""] = [old, put].map((list) => (isCut ? text(list).slice(0, -1) : text(list)));
    tell(`${who < 0 ? "hand" : `s${who}`} ${path} ${JSON.stringify(before)} -> ${JSON.stringify(after)}`);
    if (who >= 0) calls.add(`${T0 + Math.floor(clock / 1_000)} ${path}`);
    if (who >= 0)
      sessions[who]?.push([
        clock / 1_000,
        "Edit",
        { file_path: `${repo.root}/${path}`, old_string: before, new_string: after },
      ]);
  };
  const whole = (who: number, path: string, lines: SecondLine[]): void => {
    // A call that writes down what the last commit has not: neither its log nor the history shows that a person put it there before.
    const known = new Set(commits.at(-1)?.files.get(path));
    work.set(
      path,
      lines.map((line) => (who >= 0 && !known.has(line) ? { ...line, also: [...line.also, who] } : line)),
    );
    tell(`${who < 0 ? "hand" : `s${who}`} ${path} whole ${JSON.stringify(text(lines))}`);
    if (who >= 0) calls.add(`${T0 + Math.floor(clock / 1_000)} ${path}`);
    if (who >= 0)
      sessions[who]?.push([clock / 1_000, "Write", { file_path: `${repo.root}/${path}`, content: text(lines) }]);
  };

  const change = (who: number): void => {
    const path = chance(6) ? `src/${serial++}.ts` : anyFile();
    const lines = work.get(path);
    if (!lines || lines.length < 3) {
      whole(who, path, [...(lines ?? []), ...block(who, 2, 6)]);
      return;
    }
    const range = uniqueRange(lines, 3);
    if (!range) return;
    const [from, count] = range;
    const old = lines.slice(from, from + count);
    const kind = random.between(1, 100);
    if (kind <= 45) edit(who, path, from, count, [...old, ...block(who)]);
    else if (kind <= 52) edit(who, path, from, count, [...block(who), ...old]);
    else if (kind <= 72) {
      const had = new Set(old.map((line) => line.text));
      const put = block(who).filter((line) => !had.has(line.text));
      edit(who, path, from, count, put);
    } else if (kind <= 80 && lines.length > count + 3) edit(who, path, from, count, []);
    else if (kind <= 88) {
      const next = lines.flatMap((line) => (chance(15) ? [line, ...block(who, 1, 1)] : [line]));
      // A call that writes what is there leaves no trace of whether it was before the commit or after it.
      whole(who, path, next.length > lines.length ? next : [...lines, ...block(who, 1, 1)]);
    } else if (lines.length > count + 2) {
      // Moved: taken out by one call, put back elsewhere by the next one.
      edit(who, path, from, count, []);
      clock += random.between(1, 60);
      const to = uniqueRange(lines, 2);
      const moved = old.map((line) => {
        const { born: _, ...rest } = line;
        return { ...rest, also: [...line.also, line.who, who].filter((one) => one >= 0) };
      });
      if (to) edit(who, path, to[0], to[1], [...lines.slice(to[0], to[0] + to[1]), ...moved]);
    }
  };

  /** A person types a line that a session wrote. */
  const retype = (): void => {
    const path = anyFile();
    const lines = work.get(path) ?? [];
    const line = lines.length > 0 ? pick(lines) : undefined;
    if (line)
      edit(-1, path, random.between(0, lines.length), 0, [{ text: line.text, who: -1, also: [], intact: true }]);
  };

  /** The file as an earlier commit has it, by hand. */
  const restore = (): void => {
    const earlier = pick(commits.slice(-4));
    const path = anyFile();
    const lines = earlier.files.get(path);
    if (!lines) return;
    work.set(path, [...lines]);
    tell(`restore ${path} of ${earlier.message}`);
  };

  const revert = (): void => {
    const before = commits.at(-2);
    if (!before) return;
    const after = copy(work);
    work = copy(before.files);
    commit("Revert");
    if (!chance(40)) return;
    clock += random.between(5, 100);
    work = after;
    commit("Reapply");
  };

  const openIn = (place: number): Set<string> => {
    const open = new Set<string>();
    for (const path of commits[place]?.files.keys() ?? []) {
      const own = commits.slice(0, place + 1).filter(({ files }, i) => {
        const before = commits[i - 1]?.files.get(path);
        return text(files.get(path) ?? []) !== text(before ?? []);
      });
      if (own.slice(-2).some(({ authored }) => calls.has(`${authored} ${path}`))) open.add(path);
    }
    return open;
  };

  for (let n = random.between(1, 2); n > 0; n--) work.set(`src/${serial++}.ts`, block(-1, 3, 9));
  commit("Begin");
  clock = 10_000 + random.between(0, 800);
  for (let step = random.between(8, 24); step > 0; step--) {
    clock += chance(10) ? random.between(900, 2_500) : random.between(5, 160);
    const kind = random.between(1, 100);
    if (kind <= 60) {
      change(random.between(0, sessions.length - 1));
      clock += random.between(1, 60);
      if (chance(65)) commit("By itself", chance(20) ? anyFile() : undefined);
    } else if (kind <= 74) {
      change(-1);
      clock += random.between(1, 60);
      if (chance(50)) commit("By hand");
    } else if (kind <= 82) {
      retype();
      if (chance(50)) commit("Typed");
    } else if (kind <= 88) restore();
    else if (kind <= 93) revert();
    else commit("As it is");
  }
  clock += random.between(5, 1_500);
  commit("End");
  writeRepository(repo.root, commits);
  return {
    ...{ sessions, story },
    commits: commits.map(({ message, files }, i) => ({ subject: message, files, open: openIn(i) })),
    files: commits.at(-1)?.files ?? new Map(),
  };
}
