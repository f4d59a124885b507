/** Slash commands as logs write them in a text. */
import { oneLine } from "../../format.ts";

interface SlashCommand {
  /** With its slash. */
  name: string;
  args: string;
}

/** What a person typed, when it is a command: a name behind the slash, and no path. */
export function commandOf(text: string): SlashCommand | undefined {
  const [, name, args = ""] = /^(\/[a-z][\w:.-]*)(?:\s+([\s\S]*))?$/i.exec(text.trimEnd()) ?? [];
  return name === undefined ? undefined : { name, args };
}

/** The command a client answered itself, from the frame it writes into the log. */
export function commandIn(text: string): SlashCommand | undefined {
  const name = /<command-name>\s*\/?([\w:.-]+)\s*<\/command-name>/.exec(text)?.[1];
  if (name === undefined) return undefined;
  return { name: `/${name}`, args: /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1]?.trim() ?? "" };
}

/** A prompt in one line: a command of the client by its name, all else as it begins. */
export function promptLine(text: string): string {
  const command = commandIn(text);
  return oneLine(command ? `${command.name} ${command.args}` : text.replace(/<\/?[a-z][\w-]*>/g, " "));
}
