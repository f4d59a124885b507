/**
 * `npm run typecheck`, its last part: the dashboard's types. Each `.vue` becomes the TypeScript that Vue's own tools make of it, and the
 * native compiler checks that against what the service declares: a fifth of the work that vue-tsc has with it. What it runs in is
 * the project once more, below node_modules: the service's declarations, which its own check left there, and the dashboard beside them.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type CodeInformation,
  createParsedCommandLine,
  createVueLanguagePlugin,
  forEachEmbeddedCode,
  type Mapping,
} from "@vue/language-core";
import ts from "typescript";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** As core/types.json has it. */
const COPY = join(ROOT, "node_modules/.cache/sessarc-types");
const OURS = ["ui", "test/ui"];
/** What Vue's tools call the TypeScript of a file, before its ending. */
const SCRIPT = "script_";
/** Of an error, as the compiler writes it. */
const PLACE = /^(\S.*?)\((\d+),(\d+)\): /;
/** A check that finds nothing here would find nothing anywhere. */
const WRONG = {
  source: "ui/wrong.vue",
  text: "<template>{{ nothing }}</template>",
  error: "ui/wrong.vue(1,14): error TS2339",
};

interface Generated {
  /** The path below the project. */
  source: string;
  text: string;
  made: string;
  mappings: readonly Mapping<CodeInformation>[];
}

forgetGone();
const { options, vueOptions } = createParsedCommandLine(ts, ts.sys, join(ROOT, "ui/tsconfig.json"));
const vue = createVueLanguagePlugin<string>(ts, options, vueOptions, (path) => path);
/** By the name of what was written. */
const generated = new Map<string, Generated>();
for (const folder of OURS)
  for (const name of filesOf(join(ROOT, folder), ".ts", ".vue", ".json")) copy(`${folder}/${name}`);
generate(WRONG.source, WRONG.text);
copy("tsconfig.json");
const found = check();
const errors = found.filter((error) => !error.startsWith(WRONG.error));
if (errors.length === found.length) errors.push(`${WRONG.source} passed: this check finds nothing`);
for (const error of errors) console.error(error);
process.exitCode = errors.length > 0 ? 1 : 0;

/** What the last run left: declarations whose source is gone, and its copy of the dashboard. */
function forgetGone(): void {
  for (const folder of OURS) rmSync(join(COPY, folder), { recursive: true, force: true });
  for (const name of filesOf(COPY, ".d.ts")) {
    if (!existsSync(join(ROOT, name.replace(/\.d\.ts$/, ".ts")))) rmSync(join(COPY, name));
  }
}

function copy(source: string): void {
  const path = join(COPY, source);
  mkdirSync(dirname(path), { recursive: true });
  if (source.endsWith(".vue")) generate(source, readFileSync(join(ROOT, source), "utf8"));
  else copyFileSync(join(ROOT, source), path);
}

/** Writes a `.vue` file as TypeScript. */
function generate(source: string, text: string): void {
  const path = join(COPY, source);
  const alone = { getAssociatedScript: () => undefined };
  const root = vue.createVirtualCode?.(path, "vue", ts.ScriptSnapshot.fromString(text), alone);
  const script = root && [...forEachEmbeddedCode(root)].find(({ id }) => id.startsWith(SCRIPT));
  if (!script) throw new Error(`${source} was not understood`);
  const extension = `.${script.id.slice(SCRIPT.length)}`;
  const made = asCode(script.snapshot.getText(0, script.snapshot.getLength()));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path + extension, made);
  generated.set(source + extension, { source, text, made, mappings: script.mappings });
}

/** Vue's tools take the `//` of an address for a comment where they write an element's attributes into one line. */
function asCode(made: string): string {
  return made.replace(/\b(https?:)\/\*(.*?) \*\//g, "$1//$2");
}

/** Errors as the compiler words them, with the places people know. */
function check(): string[] {
  const compiler = join(ROOT, "node_modules/typescript-native/bin/tsc");
  const state = ["--incremental", "--tsBuildInfoFile", "ui.tsbuildinfo"];
  const args = [compiler, "-p", "ui", "--noEmit", "--checkers", "1", ...state];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: COPY,
    encoding: "utf8",
    maxBuffer: 2 ** 26,
  });
  // Lines that go on with the error before are indented.
  const said = stdout.trimEnd().split(/\n(?=\S)/);
  const isUnderstood = stderr === "" && said.every((error) => PLACE.test(error));
  return isUnderstood ? said.flatMap(toSource) : [stdout, stderr, `the compiler ended with ${status}`];
}

/** Empty for errors in generated code without a source file: Vue's tools do not check it. */
function toSource(error: string): string[] {
  const [place = "", path = "", line, column] = PLACE.exec(error) ?? [];
  const file = generated.get(path);
  if (!file) return [error];
  const at = computeOffset(file.made, Number(line)) + Number(column) - 1;
  for (const { generatedOffsets, sourceOffsets, lengths, generatedLengths = lengths, data } of file.mappings) {
    if (!isReported(data, error)) continue;
    for (const [i, start] of generatedOffsets.entries()) {
      if (at < start || at > start + (generatedLengths[i] ?? 0)) continue;
      const before = file.text.slice(0, (sourceOffsets[i] ?? 0) + Math.min(at - start, lengths[i] ?? 0)).split("\n");
      return [`${file.source}(${before.length},${(before.at(-1) ?? "").length + 1}): ${error.slice(place.length)}`];
    }
  }
  return [];
}

function isReported({ verification }: CodeInformation, error: string): boolean {
  if (typeof verification !== "object") return verification === true;
  return verification.shouldReport?.("ts", /TS(\d+)/.exec(error)?.[1]) ?? true;
}

function computeOffset(text: string, line: number): number {
  let at = 0;
  for (let i = 1; i < line; i++) at = text.indexOf("\n", at) + 1;
  return at;
}

/** Below `folder`, with `/` in their paths. */
function filesOf(folder: string, ...ends: string[]): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return names.map((name) => name.replaceAll("\\", "/")).filter((name) => ends.some((end) => name.endsWith(end)));
}
