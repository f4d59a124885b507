/** Which files a call may destroy that git does not hold. */
import type { Dirent, Stats } from "node:fs";
import { lstat, opendir, readdir, realpath } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Harm } from "../shell/harm.ts";
import { isBelow } from "../shell/paths.ts";
import type { Kind } from "../shell/words.ts";
import { toGlob } from "./glob.ts";
import { openRepository, type Repository } from "./repository.ts";

export interface Found {
  path: string;
  size: number;
  mode: number;
  mtimeMs: number;
}

export interface Search {
  env: Readonly<Record<string, string | undefined>>;
  /** By `performance.now()`. */
  ends: number;
  /** When git is no longer waited for. */
  gitEnds: number;
  /** Called for each file, in no order. */
  found(file: Found): void;
  /** Something was not read. */
  left(path: string, reason: string): void;
}

/** Names of folders that a build makes again. Where git ignores them, or is not asked, they are left out. */
const BUILT = new Set(
  [
    "node_modules bower_components dist build out target obj vendor Pods DerivedData",
    ".venv venv env __pycache__ .tox .nox .mypy_cache .pytest_cache .ruff_cache .eggs site-packages",
    ".next .nuxt .output .svelte-kit .turbo .parcel-cache .cache .gradle .dart_tool coverage .nyc_output .terraform",
  ]
    .join(" ")
    .split(" "),
);
const WALK_LIMIT = 200_000;
const MATCH_LIMIT = 5_000;

/** Finds the files of the harms. Ends when the time is over or all are found. */
export async function findFiles(harms: readonly Harm[], search: Search): Promise<void> {
  const places = new Map<string, { harm: Harm; path: string }>();
  for (const harm of harms)
    for (const path of await placesOf(harm, search))
      places.set(JSON.stringify([path, harm.kinds, harm.names]), { harm, path });
  const walk = createWalk(search);
  const topOf = createTops();
  const byTop = new Map<string, { harm: Harm; path: string }[]>();
  for (const place of places.values()) {
    const { path, harm } = place;
    if (performance.now() > search.ends) {
      search.left(path, "there was no time for it");
      continue;
    }
    const isDotGit = path.split("/").includes(".git");
    // A work tree that is removed takes its `.git` with it: nothing holds its files then.
    const top = isDotGit ? undefined : await topOf(harm.isGone ? dirname(path) : path);
    if (top === undefined) await addPlain(path, harm, walk);
    else {
      const list = byTop.get(top) ?? [];
      list.push(place);
      byTop.set(top, list);
    }
  }
  for (const [top, list] of byTop)
    await addOfRepository(openRepository(top, { env: search.env, ends: search.gitEnds }), list, walk, search);
}

/** `findTopFolder` of many paths: a folder is looked into once. */
function createTops(): (path: string) => Promise<string | undefined> {
  const known = new Map<string, string | undefined>();
  return async function topOf(path: string): Promise<string | undefined> {
    if (known.has(path)) return known.get(path);
    const parent = dirname(path);
    const isTop = await lstat(join(path, ".git")).then(
      () => true,
      () => false,
    );
    const top = isTop ? path : parent === path ? undefined : await topOf(parent);
    known.set(path, top);
    return top;
  };
}

/** The paths that a harm means, as they are on the disk. */
async function placesOf(harm: Harm, search: Search): Promise<string[]> {
  const { path, pattern, into, otherwise = [], isGone, kinds } = harm;
  if (pattern !== undefined) return matching(path, pattern, search);
  let place = path;
  let info = await lstat(path).catch(() => undefined);
  for (const other of otherwise) {
    if (info) break;
    info = await lstat(other).catch(() => undefined);
    if (info) place = other;
  }
  // git removes and restores what is not there, too.
  if (!info) return kinds.includes("all") ? [] : [place];
  if (info.isSymbolicLink()) {
    // Removing a link leaves its target; writing goes through it.
    if (isGone) return [];
    const target = await realpath(place).catch(() => undefined);
    return target === undefined ? [] : into ? intoFolder(target, into) : [target];
  }
  return into && info.isDirectory() ? intoFolder(place, into) : [place];
}

/** Of a name that only the shell knows the whole folder. */
const intoFolder = (folder: string, names: readonly string[]): string[] =>
  names.some((name) => /[*?[{$]/.test(name)) ? [folder] : names.map((name) => join(folder, name));

/** What a pattern of the shell matches. */
async function matching(folder: string, pattern: string, { ends, left }: Search): Promise<string[]> {
  const found: string[] = [];
  const matches = toGlob(pattern);
  const depth = pattern.slice(folder.length).split("/").length;
  const isDeep = pattern.includes("**");
  async function go(at: string, level: number): Promise<void> {
    for (const entry of await readdir(at, { withFileTypes: true }).catch((): Dirent[] => [])) {
      if (found.length >= MATCH_LIMIT) return left(pattern, "matches more files than are read");
      if (performance.now() > ends) return left(pattern, "there was no time for all that it matches");
      const path = join(at, entry.name);
      if (matches(path)) found.push(path);
      else if (entry.isDirectory() && level < depth && !BUILT.has(entry.name))
        await go(path, isDeep ? level : level + 1);
    }
  }
  await go(folder, 1);
  return found;
}

type Walk = ReturnType<typeof createWalk>;

function createWalk({ ends, found, left }: Search) {
  let seen = 0;
  const known = new Set<string>();
  const tests = new WeakMap<Harm, (name: string) => boolean>();
  const isNamed = (path: string, harm: Harm): boolean => {
    if (!harm.names) return true;
    const test = tests.get(harm) ?? toNameTest(harm.names);
    tests.set(harm, test);
    return test(basename(path));
  };
  const isOver = () => performance.now() > ends;
  const add = (path: string, info: Stats): void => {
    if (known.has(path)) return;
    known.add(path);
    found({ path, size: info.size, mode: info.mode & 0o777, mtimeMs: info.mtimeMs });
  };
  async function below(folder: string, harm: Harm): Promise<void> {
    let entries: Dirent[] = [];
    try {
      for await (const entry of await opendir(folder)) {
        if (isOver()) return left(folder, "there was no time for all of it");
        entries.push(entry);
      }
    } catch {
      return left(folder, "cannot be read");
    }
    // `.git` last: it is large, and the files of the work tree are what was worked on.
    entries = entries.sort((a, b) => Number(a.name === ".git") - Number(b.name === ".git"));
    for (const entry of entries) {
      if (isOver() || ++seen > WALK_LIMIT) return left(folder, "there was no time for all of it");
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!BUILT.has(entry.name)) await below(path, harm);
      } else if (entry.isFile() && isNamed(path, harm)) {
        const info = await lstat(path).catch(() => undefined);
        if (info?.isFile()) add(path, info);
      }
    }
  }
  return {
    /** A file, or a folder with what is below it. */
    async add(path: string, harm: Harm): Promise<void> {
      if (isOver()) return left(path, "there was no time for it");
      const info = await lstat(path).catch(() => undefined);
      if (info?.isFile() && isNamed(path, harm)) add(path, info);
      else if (info?.isDirectory()) await below(path, harm);
    },
  };
}

function toNameTest(patterns: readonly string[]): (name: string) => boolean {
  const tests = patterns.map((pattern) => toGlob(pattern.toLowerCase(), true));
  return (name) => tests.some((test) => test(name.toLowerCase()));
}

/** Without git. A folder that a build makes is left out, unless it is what the call names. */
async function addPlain(path: string, harm: Harm, walk: Walk): Promise<void> {
  if (!harm.kinds.includes("all")) return;
  if (harm.isGone && BUILT.has(basename(path))) return;
  await walk.add(path, harm);
}

async function addOfRepository(
  repository: Repository,
  list: readonly { harm: Harm; path: string }[],
  walk: Walk,
  { left, ends }: Search,
): Promise<void> {
  const { top } = repository;
  const wanted = list.map(({ harm, path }) => ({
    harm,
    path: harm.isWide ? top : path,
  }));
  const isEverything = wanted.some(({ harm }) => has(harm, "ignored"));
  const rows = await repository.list(
    wanted.map(({ path }) => path),
    isEverything,
  );
  if (!rows) {
    left(top, "git did not say in time what it holds, so all files were read");
    for (const { harm, path } of wanted) await walk.add(path, harm);
    return;
  }
  for (const row of rows) {
    if (performance.now() > ends) return left(top, "there was no time for all of it");
    const path = row.path.replace(/\/$/, "");
    for (const { harm, path: place } of wanted) {
      const isInside = isBelow(path, place);
      if (!has(harm, row.kind) || !(isInside || isBelow(place, path))) continue;
      // Of a folder that git ignores as a whole what the call names, and nothing that a build makes again.
      if (
        row.kind === "ignored" &&
        path
          .slice(top.length)
          .split("/")
          .some((name) => BUILT.has(name))
      )
        continue;
      await walk.add(isInside ? path : place, harm);
    }
  }
}

const has = ({ kinds }: Harm, kind: Kind): boolean => kinds.includes("all") || kinds.includes(kind);
