/** The completion script of bash 3.2 and later. */
import type { CompletedCommand, Offer } from "./offers.ts";

export function bashScript(commands: readonly CompletedCommand[]): string {
  return `# Completion of sessarc for bash: eval "$(sessarc completion bash)", or this text in a file of bash-completion.
_sessarc() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= at=0 i
  # --flag=value arrives as three words.
  if [[ $cur == "=" ]]; then cur=; elif [[ $prev == "=" ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}; fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      ${commands.map(({ name }) => name).join("|")}) command=\${COMP_WORDS[i]}; at=$i; break ;;
    esac
  done
  COMPREPLY=()
  case $command:$prev in
${commands.flatMap(valueCases).join("\n")}
  esac
  case $command in
    "") COMPREPLY=($(compgen -W "${commands.map(({ name }) => name).join(" ")} ${toFlags(commands.find(({ name }) => name === "serve"))} --version" -- "$cur")) ;;
${commands.map(commandCase).join("\n")}
  esac
}
complete -F _sessarc sessarc
`;
}

function valueCases({ name, flags }: CompletedCommand): string[] {
  // Flags before any command belong to serve.
  const places = name === "serve" ? ["serve", ""] : [name];
  return flags.flatMap((flag) => {
    if (!flag.value) return [];
    const words = [`--${flag.name}`, ...(flag.short ? [`-${flag.short}`] : [])];
    const patterns = places.flatMap((place) => words.map((word) => `${place}:${word}`)).join("|");
    return [`    ${patterns}) ${offer(flag.value.offer)} return ;;`];
  });
}

function commandCase(command: CompletedCommand): string {
  const { operands } = command;
  const other = operands === "folder" || operands === undefined ? "" : words(operands);
  const first = operands === "folder" ? `elif ((COMP_CWORD == at + 1)); then ${offer("folder")}` : "";
  const flags = `COMPREPLY=($(compgen -W "${toFlags(command)}" -- "$cur"))`;
  const operand = other === "" ? "" : `elif ((COMP_CWORD == at + 1)); then ${other}`;
  return `    ${command.name}) if [[ $cur == -* ]]; then ${flags}; ${first}${operand} fi ;;`;
}

const toFlags = (command: CompletedCommand | undefined) =>
  (command?.flags ?? []).map((flag) => `--${flag.name}`).join(" ");

const words = (list: Offer) =>
  Array.isArray(list) && list.length > 0 ? `COMPREPLY=($(compgen -W "${list.join(" ")}" -- "$cur"));` : "";

/** Names with blanks stay one word each. */
function offer(what: Offer): string {
  if (what === "file" || what === "folder")
    return `compopt -o filenames 2>/dev/null; while IFS= read -r i; do COMPREPLY+=("$i"); done < <(compgen -${what === "file" ? "f" : "d"} -- "$cur");`;
  return words(what);
}
