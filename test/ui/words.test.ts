/** The entry holds only its own words; whatever says more brings them along. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { en } from "../../ui/i18n/en.ts";
import { pages } from "../../ui/i18n/en-pages.ts";

const UI = fileURLToPath(new URL("../../ui", import.meta.url));
const PAGES = join(UI, "i18n/pages.ts");

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
    const check = (root: string, before: ReadonlySet<string>, having: boolean) => {
      const key = `${root} ${having}`;
      if (done.has(key)) return;
      done.add(key);
      const modules = closure(root);
      const has = having || modules.some((one) => one.file === PAGES);
      for (const { file, said } of modules) {
        if (before.has(file) || file.startsWith(join(UI, "i18n"))) continue;
        for (const one of said)
          if (!isIn(en, one) && isIn(pages, one) && !has) missing.push(`${file.slice(UI.length)}: ${one}`);
      }
      const loaded = new Set([...before, ...modules.map((one) => one.file)]);
      for (const { lazy } of modules) for (const next of lazy) check(next, loaded, has);
    };
    check(join(UI, "main.ts"), new Set(), false);
    expect(closure(join(UI, "main.ts")).map((one) => one.file)).not.toContain(PAGES);
    expect(missing).toEqual([]);
  });
});
