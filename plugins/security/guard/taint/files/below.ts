/** Folders as sources: the files below a folder that a search or a copy shows. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { RE2JS } from "re2js";
import { readRegular } from "sessarc/files";
import { expressions } from "../../../secrets/match/expressions.ts";
import type { Below } from "../words.ts";
import { namesFit } from "./glob.ts";
import { isSecretFile } from "./stores.ts";

/** The work that remains for the folders of one call. */
export interface BelowBudget {
  entries: number;
  files: number;
  /** Some folders or files were left out. */
  cut: boolean;
}

export const createBelowBudget = (): BelowBudget => ({ entries: 5_000, files: 300, cut: false });

/** An opened folder costs as much as this many entries. */
const FOLDER_COST = 10;
/** Folders with what other people wrote, and with what can be made again. */
const LEFT_OUT = new Set([".git", "node_modules", ".cache", ".npm", ".venv", "__pycache__"]);
const IGNORES_LIMIT = 64 * 1024;

/** Returns the files below `folder` that `below` shows and that may hold secrets. None if `folder` is not a folder. */
export async function findFilesBelow(folder: string, below: Below, budget: BelowBudget): Promise<string[]> {
  const fits = await createFilter(folder, below);
  const folders = [folder];
  const found: string[] = [];
  for (const place of folders) {
    if (budget.entries <= 0 || budget.files <= 0) {
      budget.cut = true;
      break;
    }
    const entries = await readdir(place, { withFileTypes: true }).catch(() => []);
    budget.entries -= entries.length + FOLDER_COST;
    for (const entry of entries) {
      if (below.plain && entry.name.startsWith(".")) continue;
      const path = join(place, entry.name);
      if (entry.isDirectory()) {
        if (!LEFT_OUT.has(entry.name)) folders.push(path);
      } else if ((below.tokens || isSecretFile(path)) && fits(entry.name) && budget.files-- > 0) found.push(path);
    }
  }
  return found;
}

/** Whether the program takes files of this name. */
async function createFilter(folder: string, { names, not = [], expression, ignores }: Below) {
  const ignored = ignores ? await readIgnored(folder) : [];
  const asked = expression === undefined ? undefined : compile(expression);
  return (name: string): boolean =>
    (names.length === 0 || namesFit(name, names)) &&
    !namesFit(name, not) &&
    // A program that is asked for names shows them even if they are ignored.
    (names.length > 0 || !namesFit(name, ignored)) &&
    (asked === undefined || asked.matcher(name).find());
}

function compile(expression: string): RE2JS | undefined {
  const { RE2JS, RE2JSException } = expressions();
  try {
    return RE2JS.compile(expression, RE2JS.CASE_INSENSITIVE);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    // Any name may be meant.
    return undefined;
  }
}

/** The names in the folder's `.gitignore`. */
async function readIgnored(folder: string): Promise<string[]> {
  const text = await readRegular(join(folder, ".gitignore")).catch(() => "");
  return text
    .slice(0, IGNORES_LIMIT)
    .split(/\r?\n/)
    .map((line) => line.trim().replace(/^\//, ""))
    .filter((line) => line !== "" && !/^[#!]|\//.test(line));
}
