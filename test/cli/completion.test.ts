/** Completion scripts in real shells, and the manual page. */
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CORE_COMMANDS } from "../../core/cli/commands.ts";
import { builtPackage, ROOT } from "../built.ts";
import { runCommand } from "../command.ts";

const exec = promisify(execFile);
const has = (name: string) =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, name)));
let home: string;

beforeAll(async () => {
  await builtPackage();
  home = await mkdtemp(join(tmpdir(), "sessarc-completion-"));
  for (const shell of ["bash", "zsh", "fish"]) {
    const { stdout } = await runCommand(["completion", shell], home);
    await writeFile(join(home, `script.${shell}`), stdout);
  }
});
afterAll(() => rm(home, { recursive: true, force: true }));

const run = async (shell: string, args: readonly string[]) =>
  (await exec(shell, [...args], { cwd: home, env: { PATH: process.env.PATH, HOME: home, TERM: "dumb" } })).stdout;

const CASES: [words: string[], offered: string[]][] = [
  [["us"], ["usage"]],
  [
    ["usage", "mo"],
    ["model", "monthly"],
  ],
  [["usage", "--bre"], ["--breakdown"]],
  [
    ["usage", "--order", ""],
    ["asc", "desc"],
  ],
  [
    ["--data-dir", "x", "export", "last", "-f", ""],
    ["html", "json", "md"],
  ],
  [["--po"], ["--port"]],
  [["guard", "un"], ["uninstall"]],
  [["plugins", "x"], []],
];

describe.runIf(has("bash"))("bash", () => {
  it.each(CASES)("%j", async (words, offered) => {
    const script = `source ./script.bash; COMP_WORDS=(sessarc "$@"); COMP_CWORD=$#; _sessarc; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const out = await run("bash", ["--norc", "-c", script, "bash", ...words]);
    expect(out.split("\n").filter(Boolean).sort()).toEqual(offered);
  });

  it("completes a value behind =, and files whose names have blanks", async () => {
    const ask = async (...words: string[]) => {
      const script = `source ./script.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _sessarc; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return (await run("bash", ["--norc", "-c", script, "bash", "sessarc", ...words])).split("\n").filter(Boolean);
    };
    expect(await ask("export", "x", "--format", "=", "h")).toEqual(["html"]);
    await writeFile(join(home, "my config.mjs"), "");
    expect(await ask("--config", "my")).toEqual(["my config.mjs"]);
  });
});

describe.runIf(has("fish"))("fish", () => {
  it.each(CASES)("%j", async (words, offered) => {
    const line = ["sessarc", ...words].join(" ");
    const out = await run("fish", ["--no-config", "-c", `source ./script.fish; complete -C '${line}'`]);
    expect(
      out
        .split("\n")
        .filter(Boolean)
        .map((row) => row.split("\t")[0])
        .sort(),
    ).toEqual(offered);
  });
});

describe.runIf(has("zsh"))("zsh", () => {
  it("completes commands, operands and flags at a prompt", async () => {
    const terminal = `
      zmodload zsh/zpty
      zpty z zsh -f -i
      zpty -w z "PS1='> '; autoload -Uz compinit; compinit -u -D; source ./script.zsh; echo READ''Y"
      zpty -r -m z line '*READY*'
      zpty -w -n z "sessarc usage mod"$'\\t'
      zpty -r -m z line '*model*'
      zpty -w -n z "--brea"$'\\t'
      zpty -r -m z line '*--breakdown*'
      print -r -- complete`;
    expect(await run("zsh", ["-f", "-c", terminal])).toBe("complete\n");
  });
});

describe("the manual page", () => {
  it("is what the command prints, names every command and flag, and is shipped", async () => {
    const { stdout } = await runCommand(["manual"], home);
    expect(await readFile(join(ROOT, "dist/sessarc.1"), "utf8")).toBe(stdout);
    for (const command of CORE_COMMANDS) {
      expect(stdout).toContain(`.SS ${command.name}\n`);
      for (const flag of Object.keys(command.options))
        expect(stdout).toContain(`\\-\\-${flag.replaceAll("-", "\\-")}\\fR`);
    }
    const { man } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8")) as { man: string[] };
    expect(man).toEqual(["dist/sessarc.1"]);
  });

  it.runIf(has("mandoc"))("has no error", async () => {
    await exec("mandoc", ["-T", "lint", "-W", "error", join(ROOT, "dist/sessarc.1")]);
  });
});
