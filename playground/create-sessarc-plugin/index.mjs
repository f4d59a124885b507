#!/usr/bin/env node
/** `npm create sessarc-plugin <folder> [--adapter | --feature]`: writes a plugin that builds, tests and loads. Needs nothing but Node. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const HELP = `Usage: npm create sessarc-plugin <folder> -- [--adapter | --feature]

  --adapter  Reads the logs of one more assistant
  --feature  Routes, and a page in the dashboard

The folder's name is that of the package: sessarc-adapter-aider makes the adapter "aider".`;

class WrongUse extends Error {}

const here = dirname(fileURLToPath(import.meta.url));

/** Names files may not have in a package of npm. */
const RENAMED = { _gitignore: ".gitignore", "_package.json": "package.json" };

async function main() {
  const { values, positionals } = readArguments();
  if (values.help) return void console.log(HELP);
  const [given, ...rest] = positionals;
  if (rest.length > 0) throw new WrongUse(`One folder, not also ${rest.join(" ")}`);
  if (values.adapter && values.feature) throw new WrongUse("Either --adapter or --feature");
  const ask = asker();
  const folder = resolve(given ?? (await ask("Folder (its name is that of the package)", "sessarc-plugin-mine")));
  const kind = values.adapter ? "adapter" : values.feature ? "feature" : await askKind(ask);
  ask.close();
  const names = namesOf(basename(folder));
  await assertEmpty(folder);
  const { version } = JSON.parse(await readFile(join(here, "package.json"), "utf8"));
  for (const template of ["shared", kind]) await copy(join(here, "templates", template), folder, { ...names, version });
  console.log(`Made the ${kind} "${names.name}" in ${folder}. Next:

  cd ${given ?? folder}
  npm install
  npm test

Its README says how to try it and how to publish it.`);
}

function readArguments() {
  const options = { adapter: { type: "boolean" }, feature: { type: "boolean" }, help: { type: "boolean", short: "h" } };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new WrongUse(error.message);
  }
}

/** Asks on a terminal; elsewhere everything is to be said in the arguments. */
function asker() {
  const lines = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stdout }) : undefined;
  const ask = async (question, usual) => {
    if (!lines) throw new WrongUse("Name the folder, and --adapter or --feature");
    return (await lines.question(`${question} (${usual}): `)).trim() || usual;
  };
  return Object.assign(ask, { close: () => lines?.close() });
}

async function askKind(ask) {
  const answer = await ask("adapter or feature?", "adapter");
  if (answer === "adapter" || answer === "feature") return answer;
  throw new WrongUse(`"${answer}" is neither adapter nor feature`);
}

/** `sessarc-adapter-my-tool`: the package; `my-tool`: the plugin; `My Tool`: what people read. */
function namesOf(pack) {
  const name = pack.replace(/^sessarc-(?:adapter-|plugin-)?/, "");
  if (!/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) || !/^[a-z0-9-]+$/.test(pack))
    throw new WrongUse(
      `"${pack}" is no name for a plugin: lower-case letters, digits and single hyphens, as in sessarc-adapter-aider`,
    );
  const label = name
    .split("-")
    .map((word) => word[0].toUpperCase() + word.slice(1))
    .join(" ");
  return { pack, name, label };
}

async function assertEmpty(folder) {
  const entries = await readdir(folder).catch((error) => {
    if (error.code === "ENOENT") return [];
    throw new WrongUse(error.code === "ENOTDIR" ? `${folder} is a file` : error.message);
  });
  if (entries.some((entry) => entry !== ".git")) throw new WrongUse(`${folder} is not empty`);
}

/** In the templates the package is `starter-package`, the plugin `starter`, its label `Starter`, and our version `0.0.0`. */
async function copy(from, to, { pack, name, label, version }) {
  for (const entry of await readdir(from, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const target = join(to, dirname(path.slice(from.length + 1)), RENAMED[entry.name] ?? entry.name);
    const text = await readFile(path, "utf8");
    await mkdir(dirname(target), { recursive: true });
    await writeFile(
      target,
      text
        .replaceAll("starter-package", pack)
        .replaceAll("starter", name)
        .replaceAll("Starter", label)
        .replaceAll("^0.0.0", `^${version}`),
    );
  }
}

main().catch((error) => {
  console.error(`error ${error.message}`);
  if (error instanceof WrongUse) console.error("`npm create sessarc-plugin -- --help` tells more.");
  process.exitCode = error instanceof WrongUse ? 2 : 1;
});
