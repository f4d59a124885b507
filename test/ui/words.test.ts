/** The entry holds only its own words; what a feature says comes with the feature, and another language when it is chosen. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const UI = fileURLToPath(new URL("../../ui", import.meta.url));

/** What is loaded together with `root`, as paths below ui/. */
function closure(root: string): string[] {
  const seen = new Set<string>();
  const visit = (file: string) => {
    if (seen.has(file) || !/\.(vue|ts)$/.test(file)) return;
    seen.add(file);
    const statics = readFileSync(file, "utf8").matchAll(/^(?:import|export) (?!type)[^;]*?"(\.[^"]+)";/gm);
    for (const [, path = ""] of statics) visit(resolve(dirname(file), path));
  };
  visit(join(UI, root));
  return [...seen].filter(existsSync).map((file) => relative(UI, file).replaceAll("\\", "/"));
}

describe("words of the dashboard", () => {
  it("the entry brings its own and those of the shell", () => {
    const entry = closure("main.ts");
    expect(entry.length).toBeGreaterThan(30);
    expect(entry.filter((file) => /\/(en|zh|ja)\.ts$/.test(file)).sort()).toEqual([
      "features/shell/words/en.ts",
      "i18n/en.ts",
    ]);
  });

  it("Home brings those of Home beside them", () => {
    const home = closure("features/home/home.vue");
    expect(home.filter((file) => /\/(en|zh|ja)\.ts$/.test(file)).sort()).toEqual([
      "features/home/words/en.ts",
      "i18n/en.ts",
    ]);
  });
});
