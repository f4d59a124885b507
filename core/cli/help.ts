/** The texts of --help: each fits a terminal of 32 lines. */
import type { Command } from "../contract/plugin.ts";

export function generalHelp(version: string, commands: readonly Pick<Command, "name" | "summary">[]): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    `sessarc ${version}: one local archive for the sessions of every coding assistant`,
    "",
    "Usage: sessarc [command] [flags]      no command is `serve`",
    "",
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    "",
    "`sessarc <command> --help` shows a command's options. --version prints the version.",
    "Exit codes: 0 ok, 1 failed, 2 usage, 3 nothing found, 4 service not reachable.",
  ].join("\n");
}

/** The flags that every command takes, as `docs/reference/commands.md` explains them one by one. */
const COMMON = [
  "Every command takes --help, --json (print the objects of the HTTP API), --config <file>, --data-dir <folder>,",
  "--plugin <package or path> and --debug (show stacks of what fails).",
];

export function commandHelp(command: Command): string {
  const rows = Object.entries(command.options).map(([name, option]) => row(name, option, command.help[name] ?? ""));
  const width = Math.max(0, ...rows.map(([flag]) => flag.length));
  const usage = command.usage.split("\n").map((line) => `  sessarc ${command.name} ${line}`.trimEnd());
  return [
    command.summary,
    "Usage:",
    ...usage,
    "",
    ...rows.map(([flag, text]) => `  ${flag.padEnd(width)}  ${text}`),
    ...COMMON,
  ].join("\n");
}

function row(
  name: string,
  option: { type: "string" | "boolean"; short?: string },
  text: string,
): [flag: string, text: string] {
  const short = option.short ? `-${option.short}, ` : "";
  return [`${short}--${name}${option.type === "string" ? " <…>" : ""}`, text];
}
