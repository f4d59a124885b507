/** The licences of the packages that were taken in stand beside the code. */
import { readdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { here } from "./entries.ts";

/** Writes dist/LICENSES.txt, unless that says the same already. `files`: what is in the bundles. */
export async function writeNotices(files: readonly string[]): Promise<void> {
  const roots = new Set(
    files.flatMap((file) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file.replaceAll("\\", "/"))?.[0] ?? []),
  );
  const notices = await Promise.all([...roots].sort().map(noticeOf));
  const text = notices.join(`\n${"-".repeat(80)}\n\n`);
  const path = here("dist/LICENSES.txt");
  if ((await readFile(path, "utf8").catch(() => "")) !== text) await writeFile(path, text);
}

async function noticeOf(root: string): Promise<string> {
  const { name, version, license } = JSON.parse(await readFile(`${root}/package.json`, "utf8")) as Record<
    string,
    string
  >;
  const file = readdirSync(root).find((entry) => /^licen[cs]e/i.test(entry));
  return `${name} ${version} (${license})\n\n${file ? await readFile(`${root}/${file}`, "utf8") : ""}`;
}
