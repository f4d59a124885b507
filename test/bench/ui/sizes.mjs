/** Sizes, from the build's manifest. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync, gzipSync } from "node:zlib";
import { UI } from "./stage.mjs";

/** Scripts and styles of the page, by their path. */
export const scriptsOf = () => takeApart(brotliDecompressSync(readFileSync(join(UI, "scripts.br"))));

/** Files of the build: what each screen needs before it stands. */
export function sizes(row) {
  const manifest = JSON.parse(readFileSync(join(UI, ".vite/manifest.json"), "utf8"));
  const files = scriptsOf();
  const gz = (file) => gzipSync(files.get(file)).length / 1000;
  /** What a page loads before it stands: static imports of its modules. */
  const needs = (keys) => {
    const seen = new Set();
    const visit = (key) => {
      if (seen.has(key)) return;
      seen.add(key);
      for (const next of manifest[key].imports ?? []) visit(next);
    };
    keys.forEach(visit);
    return [...seen].map((key) => manifest[key].file);
  };
  const sum = (files) => files.reduce((total, file) => total + gz(file), 0);
  const entry = "index.html";
  const page = (name) => Object.keys(manifest).find((key) => key.endsWith(`/${name}.vue`));
  row("entry, JS gzip", sum(needs([entry])), "kB", 90);
  row("entry and Home, JS gzip", sum(needs([entry, page("home")])), "kB", 90);
  const session = page("session");
  const markdown = Object.keys(manifest).find((key) => key.endsWith("session/markdown.ts"));
  row("session route before the highlighter, JS gzip", sum(needs([entry, session, markdown])), "kB", 190);
  const scripts = Object.values(manifest)
    .filter((one) => one.file.endsWith(".js") && !one.isEntry && !/@shikijs\/langs/.test(one.src ?? ""))
    .map((one) => [gz(one.file), one.file]);
  row(`largest other chunk (${scripts.sort((a, b) => b[0] - a[0])[0][1]})`, scripts[0][0], "kB", 60);
  const css = [...files.keys()].filter((name) => name.endsWith(".css"));
  row(
    "CSS gzip",
    css.reduce((total, name) => total + gz(name), 0),
    "kB",
    15,
  );
}

/** As `plugins/dashboard/scripts.ts` does. */
function takeApart(all) {
  let at = all.indexOf("\n") + 1;
  const cut = ([path, size]) => {
    at += size;
    return [path, all.subarray(at - size, at)];
  };
  return new Map(JSON.parse(all.toString("utf8", 0, at)).map(cut));
}
