/** Every entry of the tools' skill folders, each in exactly one class. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { codeOf, isGone, isInside } from "sessarc/files";
import { isNamedAs, normalName } from "../content/names.ts";
import { inSlices } from "../content/slices.ts";
import type { ScanEntry, ScanPlace } from "../types.ts";
import type { Fault, Inspector } from "./inspect.ts";
import type { SkillRoot } from "./roots.ts";

/** What the store says of itself. */
export interface Stored {
  /** Real path of the folder that holds the skills' folders, each named by its id. */
  folder: string;
  skills: ReadonlyMap<string, { name: string; contentHash: string }>;
  /** sessarc's copies by path: the skill and the hash they were made with. */
  copies: ReadonlyMap<string, { skill: string; contentHash: string }>;
  /** Paths of sessarc's links. */
  links: ReadonlyMap<string, string>;
}

interface FoundSkill {
  root: SkillRoot;
  path: string;
  folder: string;
}

/** How long a place may take to be listed: one on a disk that does not answer must not hold up the others. */
const LIST_MS = 2_000;

/** Cost: one stat per file when nothing changed since the last scan; else every file is read once. Lets others in every 8 ms. */
export async function scanSkills(roots: readonly SkillRoot[], stored: Stored, inspector: Inspector) {
  const problems: { path: string; reason: string }[] = [];
  const lists = await Promise.all(
    roots.map(async (root): Promise<FoundSkill[]> => {
      try {
        const names = await readList(root.path);
        return names
          .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && !entry.name.startsWith("."))
          .map(({ name }) => ({ root, path: join(root.path, name), folder: name }))
          .sort((a, b) => (a.folder < b.folder ? -1 : 1));
      } catch (error) {
        if (!isGone(error)) problems.push({ path: root.path, reason: codeOf(error) || "it does not answer" });
        return [];
      }
    }),
  );
  return { entries: await inSlices(classify(lists.flat(), stored, inspector)), problems };
}

function* classify(found: readonly FoundSkill[], stored: Stored, inspector: Inspector): Generator<void, ScanEntry[]> {
  const entries: ScanEntry[] = [];
  const byReal = new Map<string, ScanEntry>();
  const seen = duplicateFinder(stored);
  for (const one of found) {
    yield;
    const entry = blank(one);
    const at = inspector.resolve(one.path);
    if ("fault" in at) {
      entries.push(broken(entry, at.fault, stored));
      continue;
    }
    const first = byReal.get(at.real);
    if (first) {
      addAlias(first, one);
      continue;
    }
    byReal.set(at.real, entry);
    entries.push(entry);
    const looked = yield* inspector.inspect(at.real, one.folder);
    if ("fault" in looked) {
      // Claude Code reads plugins from the folder of its skills, too: one is not a skill that is broken.
      if (looked.fault.code === "no-skill-file" && existsSync(join(at.real, PLUGIN_FILE))) entries.pop();
      else broken(entry, looked.fault, stored);
      continue;
    }
    const { tree, front } = looked;
    Object.assign(entry, {
      name: front.name ?? one.folder,
      description: front.description,
      contentHash: tree.hash,
      warnings: [...front.warnings, ...tree.skipped.map((path) => `${path} is left out of a copy`)],
    });
    const managed = managedBy(one.path, at.real, tree.hash, stored);
    if (managed) Object.assign(entry, { class: "managed", ...managed });
    else Object.assign(entry, seen(entry, tree.hash));
  }
  return entries;
}

const PLUGIN_FILE = ".claude-plugin/plugin.json";

/** Answers what makes an entry a duplicate of a stored or an earlier one; remembers it when nothing does. */
function duplicateFinder({ skills }: Stored) {
  const byHash = new Map<string, string>();
  const byName = new Map<string, string>();
  /** Names that differ from the folder: they hold against others of their kind, not against the skill that is really called so. */
  const byOtherName = new Map<string, string>();
  for (const [id, skill] of skills) {
    byHash.set(skill.contentHash, id);
    byName.set(normalName(id), id);
    (isNamedAs(id, skill.name) ? byName : byOtherName).set(normalName(skill.name), id);
  }
  return ({ path, name }: ScanEntry, hash: string): Partial<ScanEntry> => {
    const same = byHash.get(hash);
    if (same !== undefined) return { class: "duplicate", reason: "same-content", duplicateOf: same };
    const key = normalName(name);
    const agrees = normalName(basename(path)) === key;
    const named = byName.get(key) ?? (agrees ? undefined : byOtherName.get(key));
    if (named !== undefined) return { class: "duplicate", reason: "same-name", duplicateOf: named };
    byHash.set(hash, path);
    (agrees ? byName : byOtherName).set(key, path);
    return { class: "importable" };
  };
}

function managedBy(path: string, real: string, hash: string, stored: Stored): Partial<ScanEntry> | undefined {
  if (isInside(stored.folder, real) && real !== stored.folder) {
    const skill = real.slice(stored.folder.length + 1).split(/[/\\]/)[0] ?? null;
    return { reason: stored.links.has(path) ? "linked" : "linked-elsewhere", skill };
  }
  const copy = stored.copies.get(path);
  return copy && { reason: "copied", skill: copy.skill, drift: copy.contentHash !== hash };
}

function broken(entry: ScanEntry, { code, message, line }: Fault, stored: Stored): ScanEntry {
  const skill = stored.links.get(entry.path) ?? null;
  const repairable = code === "dangling-link" && skill !== null && leadsInto(entry.path, stored.folder);
  return Object.assign(entry, { class: "broken", reason: code, detail: message, line, skill, repairable });
}

/** What a dangling link says, though nothing is there. */
function leadsInto(path: string, folder: string): boolean {
  try {
    return (
      lstatSync(path).isSymbolicLink() && isInside(folder, resolve(realpathSync(dirname(path)), readlinkSync(path)))
    );
  } catch {
    return false; // gone in the meantime
  }
}

function addAlias(first: ScanEntry, { root, path }: FoundSkill): void {
  const alias: ScanPlace = { path, tool: root.tools[0] ?? "", scope: root.scope };
  first.aliases.push(alias);
  for (const tool of root.tools) if (!first.tools.includes(tool)) first.tools.push(tool);
}

const blank = ({ root, path, folder }: FoundSkill): ScanEntry => ({
  path,
  tool: root.tools[0] ?? "",
  tools: [...root.tools],
  scope: root.scope,
  project: root.project,
  name: folder,
  description: null,
  class: "importable",
  reason: null,
  detail: null,
  line: null,
  duplicateOf: null,
  contentHash: null,
  skill: null,
  drift: false,
  repairable: false,
  warnings: [],
  aliases: [],
});

/** A list that comes later is thrown away. */
async function readList(path: string) {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("late")), LIST_MS);
  });
  try {
    return await Promise.race([readdir(path, { withFileTypes: true }), late]);
  } finally {
    clearTimeout(timer);
  }
}
