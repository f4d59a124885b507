/** The texts of --help, 80 columns wide. */
import type { Command, CommandGroup } from "../contract/plugin.ts";
import { wrapColumns } from "../terminal/style.ts";

type Listed = Pick<Command, "name" | "summary" | "group" | "example" | "hidden">;

const GROUPS: Readonly<Record<CommandGroup, string>> = {
  look: "Look",
  cost: "Cost",
  code: "Code",
  keep: "Keep",
  tools: "Tools",
};

/** The five groups, with `all` also what is in none. */
export function generalHelp(version: string, commands: readonly Listed[], all = false): string {
  const shown = commands.filter(({ group, hidden }) => !hidden && (all || isGroup(group)));
  const width = Math.max(...shown.map((command) => command.name.length));
  const list = (title: string, own: readonly Listed[]): string[] => {
    if (own.length === 0) return [];
    const first = own.find(({ example }) => example !== undefined);
    const example = first ? `sessarc ${first.name} ${first.example}` : "";
    return [
      "",
      example === "" ? title : `${title.padEnd(width + 4)}$ ${example}`,
      ...own.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    ];
  };
  return [
    `sessarc ${version}: one local archive for the sessions of every coding assistant`,
    "",
    "Usage: sessarc [command] [flags]      without a command: `serve`",
    ...Object.entries(GROUPS).flatMap(([group, title]) =>
      list(
        title,
        shown.filter((command) => command.group === group),
      ),
    ),
    ...list(
      "More",
      shown.filter(({ group }) => !isGroup(group)),
    ),
    "",
    `\`sessarc <command> --help\` explains a command${all ? "" : ", `--help --all` lists the others"}.`,
    "Exit codes: 0 ok, 1 failed, 2 usage, 3 nothing found, 4 service not reachable.",
  ].join("\n");
}

const isGroup = (group: string | undefined): boolean => group !== undefined && Object.hasOwn(GROUPS, group);

/** The flags that every command takes, as `docs/reference/commands.md` explains them one by one. */
const COMMON =
  "Every command takes --help, --json (the objects of the HTTP API), --config <file>, --data-dir <folder>, --plugin <package or path> and --debug (show stacks of what fails).";

const WIDTH = 80;

export function commandHelp(command: Command): string {
  const hasShort = Object.values(command.options).some(({ short }) => short !== undefined);
  const rows = Object.entries(command.options).map(([name, option]) =>
    row(name, option, command.help[name] ?? "", hasShort ? "    " : ""),
  );
  const width = Math.max(0, ...rows.map(([flag]) => flag.length));
  const usage = command.usage.split("\n").map((line) => `  sessarc ${command.name} ${line}`.trimEnd());
  const example = command.example === undefined ? [] : ["", `  $ sessarc ${command.name} ${command.example}`];
  return [
    command.summary,
    "Usage:",
    ...usage.flatMap((line) => wrapColumns(line, WIDTH, "    ")),
    ...example,
    "",
    ...rows.flatMap(([flag, text]) => wrapColumns(`  ${flag.padEnd(width)}  ${text}`, WIDTH, " ".repeat(width + 4))),
    ...wrapColumns(COMMON, WIDTH),
  ].join("\n");
}

function row(
  name: string,
  option: { type: "string" | "boolean"; short?: string },
  text: string,
  noShort: string,
): [flag: string, text: string] {
  const short = option.short ? `-${option.short}, ` : noShort;
  return [`${short}--${name}${option.type === "string" ? " <…>" : ""}`, text];
}
