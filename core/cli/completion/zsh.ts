/** The completion script of zsh. */
import { quoted } from "../../utils/shell.ts";
import type { CompletedCommand, CompletedFlag, Offer } from "./offers.ts";

export function zshScript(commands: readonly CompletedCommand[]): string {
  const serve = commands.find(({ name }) => name === "serve");
  return `#compdef sessarc
# Completion of sessarc for zsh: eval "$(sessarc completion zsh)" after compinit, or this text as _sessarc in a folder of $fpath.
_sessarc() {
  local -a commands
  local context state state_descr line
  typeset -A opt_args
  commands=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join("\n")}
  )
  _arguments -C ${quoted("--version[Print the version]")} ${toArguments(serve)} '1: :->command' '*:: :->rest' && return
  case $state in
    command) _describe -t commands command commands ;;
    rest)
      case $words[1] in
${commands.map(commandCase).join("\n")}
      esac ;;
  esac
}
if [[ $funcstack[1] == _sessarc ]]; then _sessarc "$@"; else compdef _sessarc sessarc; fi
`;
}

function commandCase(command: CompletedCommand): string {
  const { operands } = command;
  const first = operands === undefined || operands.length === 0 ? "" : ` ${quoted(`1:operand:${action(operands)}`)}`;
  return `        ${command.name}) _arguments ${toArguments(command)}${first} ;;`;
}

const toArguments = (command: CompletedCommand | undefined) => (command?.flags ?? []).map(toSpec).join(" ");

function toSpec({ name, short, text, value }: CompletedFlag): string {
  const tail = `[${text.replace(/[[\]\\]/g, "\\$&").replaceAll(":", "\\:")}]${value ? `:${name}:${action(value.offer)}` : ""}`;
  const long = quoted(`--${name}${value ? "=" : ""}${tail}`);
  return short ? `${long} ${quoted(`-${short}${value ? "+" : ""}${tail}`)}` : long;
}

function action(what: Offer): string {
  if (what === "file") return "_files";
  if (what === "folder") return "_files -/";
  return what === undefined || what.length === 0 ? " " : `(${what.join(" ")})`;
}
