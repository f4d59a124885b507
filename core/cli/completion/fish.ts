/** The completion script of fish. */
import type { CompletedCommand, CompletedFlag, Offer } from "./offers.ts";

export function fishScript(commands: readonly CompletedCommand[]): string {
  const names = commands.map(({ name }) => name).join(" ");
  return `# Completion of sessarc for fish: sessarc completion fish > ~/.config/fish/completions/sessarc.fish
complete -c sessarc -f
set -l commands ${names}
${commands.flatMap(toLines).join("\n")}
complete -c sessarc -n "not __fish_seen_subcommand_from $commands" -l version -d 'Print the version'
`;
}

function toLines(command: CompletedCommand): string[] {
  const { name, summary, operands, flags } = command;
  const here = `__fish_seen_subcommand_from ${name}`;
  const before = '"not __fish_seen_subcommand_from $commands"';
  return [
    `complete -c sessarc -n ${before} -a ${name} -d ${quoted(summary)}`,
    ...(operands === undefined || operands.length === 0
      ? []
      : [`complete -c sessarc -n ${quoted(here)} ${offer(operands)}`]),
    ...flags.map((flag) => `complete -c sessarc -n ${quoted(here)} ${toFlag(flag)}`),
    // Flags before any command belong to serve.
    ...(name === "serve" ? flags.map((flag) => `complete -c sessarc -n ${before} ${toFlag(flag)}`) : []),
  ];
}

function toFlag({ name, short, text, value }: CompletedFlag): string {
  const spelled = `-l ${name}${short ? ` -s ${short}` : ""} -d ${quoted(text)}`;
  if (!value) return spelled;
  return `${spelled} ${value.offer === "file" ? "-r" : "-x"} ${offer(value.offer)}`.trimEnd();
}

function offer(what: Offer): string {
  if (what === "file") return "-F";
  if (what === "folder") return "-a '(__fish_complete_directories)'";
  return what === undefined || what.length === 0 ? "" : `-a ${quoted(what.join(" "))}`;
}

/** Not a POSIX shell's form: fish reads `\\` within quotes. */
const quoted = (text: string) => `'${text.replace(/[\\']/g, "\\$&")}'`;
