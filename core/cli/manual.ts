/** `sessarc manual`: the manual page, made from the commands; the package carries it as `sessarc.1`. */
import type { Command } from "../contract/plugin.ts";
import { COMMON_HELP, COMMON_OPTIONS } from "./args.ts";
import type { CoreContext } from "./context.ts";

export async function run(ctx: CoreContext): Promise<number> {
  const { VERSION } = await import("../utils/version.ts");
  ctx.out(manualPage(VERSION, await ctx.commands()).trimEnd());
  return 0;
}

const VARIABLES: Readonly<Record<string, string>> = {
  SESSARC_DATA_DIR: "Folder of the archive.",
  SESSARC_PORT: "Port to listen on.",
  SESSARC_HOST: "Address to listen on.",
  SESSARC_AUTH: "Ask for a token, as --auth.",
  SESSARC_NO_OPEN: "Never open the browser.",
  NO_COLOR: "No colours.",
};
const FILES: Readonly<Record<string, string>> = {
  "~/.local/share/sessarc": "The archive, readable by its owner alone; $XDG_DATA_HOME is respected.",
  "sessarc.config.mjs, ~/.config/sessarc/": "The configuration: in the working directory, else there.",
};
const EXITS: Readonly<Record<string, string>> = {
  0: "Done.",
  1: "It failed.",
  2: "A flag, a value or an operand is wrong.",
  3: "Nothing was found.",
  4: "The service or the archive cannot be reached.",
};

/** Text for `man`. The same for the same version and commands. */
export function manualPage(version: string, commands: readonly Command[]): string {
  return [
    `.TH SESSARC 1 "" "sessarc ${version}" "User Commands"`,
    ".SH NAME",
    "sessarc \\- one local archive for the sessions of every coding assistant",
    ".SH SYNOPSIS",
    ".B sessarc",
    "[\\fIcommand\\fR] [\\fIflags\\fR]",
    ".SH DESCRIPTION",
    "Imports the session logs of coding assistants into an archive on this machine: usage and cost, search, transcripts, a dashboard.",
    "No command is",
    ".BR serve .",
    "With a service running the commands ask it; without one they open the archive themselves.",
    ".SH COMMANDS",
    ...commands.flatMap(commandPart),
    ".SH COMMON FLAGS",
    ...flagsPart(COMMON_OPTIONS, COMMON_HELP),
    ".SH EXIT STATUS",
    ...listed(EXITS),
    ".SH ENVIRONMENT",
    ...listed(VARIABLES),
    ".SH FILES",
    ...listed(FILES),
    "",
  ].join("\n");
}

function commandPart({ name, summary, usage, options, help }: Command): string[] {
  const lines = usage.split("\n").map((line) => escaped(`sessarc ${name} ${line}`.trimEnd()));
  return [
    `.SS ${escaped(name)}`,
    `${escaped(summary)}.`,
    ...lines.flatMap((line) => [".PP", `\\fB${line}\\fR`]),
    ...flagsPart(options, help),
  ];
}

function flagsPart(options: Command["options"], help: Command["help"]): string[] {
  return Object.entries(options).flatMap(([name, { type, short }]) => {
    const value = type === "string" ? " \\fIvalue\\fR" : "";
    const spelled = [...(short ? [`\\-${short}`] : []), `\\-\\-${escaped(name)}`].map((flag) => `\\fB${flag}\\fR`);
    return [".TP", `${spelled.join(", ")}${value}`, escaped(help[name] ?? "")];
  });
}

const listed = (rows: Readonly<Record<string, string>>) =>
  Object.entries(rows).flatMap(([term, text]) => [".TP", `\\fB${escaped(term)}\\fR`, escaped(text)]);

/** A backslash starts a request, as does a dot or a quote at the start of a line; a hyphen is to be one that can be copied. */
const escaped = (text: string) =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("~", "\\(ti")
    .replaceAll("…", "...")
    .replace(/^[.']/, "\\&$&");
