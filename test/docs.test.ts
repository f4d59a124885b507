/** Documentation that can lie is compared with the code. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { ERRORS, type Plugin } from "sessarc";
import { defaultPlugins } from "sessarc/plugins";
import { describe, expect, it } from "vitest";
import { CORE_ERRORS } from "../core/errors/codes.ts";
import { ENTRIES, toNames } from "./entries.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const read = (path: string) => readFileSync(here(path), "utf8");

/** Names of hooks declared in the `interface KernelHooks` blocks of a text. */
function hooksIn(text: string): string[] {
  return [...text.matchAll(/interface KernelHooks \{([\s\S]*?)\n {0,2}\}/g)].flatMap((block) =>
    [...(block[1] ?? "").matchAll(/^\s+"([a-z-]+:[a-z-]+)":/gm)].map((match) => match[1] ?? ""),
  );
}

describe("core/README.md", () => {
  const text = read("../core/README.md");

  it("names every file of core", () => {
    const files = readdirSync(here("../core")).filter((name) => name.endsWith(".ts") && name !== "cli.ts");
    const missing = files.filter((name) => !text.includes(`\`${name}\``));
    expect(missing).toEqual([]);
  });
});

describe("public names", () => {
  it("each has a comment that says what it is", () => {
    const names = ENTRIES.flatMap(([entry, file]) => toNames(file).map((one) => ({ entry, ...one })));
    expect(names.length).toBeGreaterThan(150);
    expect(names.filter(({ doc }) => doc === "").map(({ entry, name }) => `${name} of ${entry}`)).toEqual([]);
  });

  it.each(["../plugins/README.md", "../core/README.md"])("%s names every entry", (path) => {
    const text = read(path);
    expect(ENTRIES.map(([entry]) => entry).filter((entry) => !text.includes(`\`${entry}\``))).toEqual([]);
  });
});

const loaded = await Promise.all(
  defaultPlugins().map(async (entry): Promise<[folder: string, plugin: Plugin]> => {
    const module = await entry.load?.();
    if (!module) throw new Error(`${entry.specifier} has no loader`);
    return [entry.specifier.split("/").at(-1) ?? "", module.default()];
  }),
);

describe.each(loaded)("plugins/%s/README.md", (folder, plugin) => {
  const path = `../plugins/${folder}/README.md`;
  const text = existsSync(here(path)) ? read(path) : "";
  const sources = readdirSync(here(`../plugins/${folder}`), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => read(`../plugins/${folder}/${name}`))
    .join("\n");

  it("exists", () => {
    expect(text).not.toBe("");
  });

  it("names every route", () => {
    const routes = (plugin.routes ?? []).map((route) => `${route.method} ${route.path}`);
    expect(routes.filter((route) => !text.includes(route))).toEqual([]);
  });

  it("names every hook the plugin adds", () => {
    expect(hooksIn(sources).filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it("names the newest version of the assistant that was tried", () => {
    const tried = [...sources.matchAll(/\btried: "([^"]+)"/g)].map(([, version = ""]) => version);
    expect(tried.filter((version) => !text.includes(version))).toEqual([]);
  });

  it("names every error code the plugin adds", () => {
    const own = Object.keys(ERRORS).filter(
      (code) => !(code in CORE_ERRORS) && new RegExp(`\\b${code}: \\{`).test(sources),
    );
    expect(own.filter((code) => !text.includes(`\`${code}\``))).toEqual([]);
  });
});
