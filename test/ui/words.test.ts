/** The entry holds only its own words; whatever says more brings them along. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { en } from "../../ui/i18n/en.ts";
import { more } from "../../ui/i18n/en-more.ts";
import { pages } from "../../ui/i18n/en-pages.ts";

const UI = fileURLToPath(new URL("../../ui", import.meta.url));
/** What brings words, and the words. */
const LATER = new Map([
  [join(UI, "i18n/pages.ts"), pages as object],
  [join(UI, "i18n/more.ts"), more as object],
]);

interface Module {
  file: string;
  statics: string[];
  lazy: string[];
  /** Beginnings or wholes of the keys it says. */
  said: string[];
}
const known = new Map<string, Module>();
function read(file: string): Module {
  const before = known.get(file);
  if (before) return before;
  const text = readFileSync(file, "utf8");
  const own = (pattern: RegExp) =>
    [...text.matchAll(pattern)].map((match) => resolve(dirname(file), match[1] ?? "")).filter(existsSync);
  const module = {
    file,
    statics: own(/^(?:import|export) (?!type)[^;]*?"(\.[^"]+)";/gm),
    lazy: own(/\bimport\("(\.[^"]+)"\)/g),
    said: [...text.matchAll(/(?:\bt\(|\? |: )["'`]((?:[a-z][\w-]*\.)+[\w-]*)(?=["'`$])/gi)].map(
      (match) => match[1] ?? "",
    ),
  };
  known.set(file, module);
  return module;
}
/** What is loaded together with `root`. */
function closure(root: string): Module[] {
  const seen = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file) || !/\.(vue|ts)$/.test(file)) return;
    seen.add(file);
    for (const next of read(file).statics) visit(next);
  };
  visit(root);
  return [...seen].map(read);
}
const isIn = (words: object, said: string) =>
  said in words || (said.endsWith(".") && Object.keys(words).some((key) => key.startsWith(said)));

describe("words of the dashboard", () => {
  it("are there before they are said, and those of other screens are no part of the entry", () => {
    const missing: string[] = [];
    const done = new Set<string>();
    const check = (root: string, before: ReadonlySet<string>) => {
      const modules = closure(root);
      const loaded = new Set([...before, ...modules.map((one) => one.file)]);
      const words = [...LATER].filter(([file]) => loaded.has(file)).map(([, words]) => words);
      const key = `${root} ${words.length}`;
      if (done.has(key)) return;
      done.add(key);
      for (const { file, said } of modules) {
        if (before.has(file) || /[\\/](i18n|words|synonyms)[\\/]/.test(file)) continue;
        // Labels of keys are said by their help alone.
        for (const one of said.filter((key) => !key.startsWith("keys.") || file.endsWith("KeyHelp.vue")))
          if (![en, ...words].some((list) => isIn(list, one)) && [...LATER.values()].some((list) => isIn(list, one)))
            missing.push(`${file.slice(UI.length)} in ${root.slice(UI.length)}: ${one}`);
      }
      for (const { lazy } of modules) for (const next of lazy) check(next, loaded);
    };
    check(join(UI, "main.ts"), new Set());
    const entry = closure(join(UI, "main.ts")).map((one) => one.file);
    expect(entry.filter((file) => LATER.has(file))).toEqual([]);
    expect(missing).toEqual([]);
  });
});
