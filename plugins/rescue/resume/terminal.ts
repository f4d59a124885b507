/** The user's terminal: which one this machine has, and a command started in it. */
import { spawn } from "node:child_process";
import { delimiter, join } from "node:path";
import { SessarcError } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { isReachable, quoted } from "sessarc/files";

export interface Terminal {
  /** Its program, as users know it. */
  name: string;
  /** Words that start it with a command, without the command's own. */
  words: readonly string[];
}

/** What a terminal runs: plain words and the folder they run in. */
export interface TerminalCommand {
  words: readonly string[];
  cwd: string;
}

/** Terminals of Linux desktops with the words that precede a command; the desktop's own choice first. */
const LINUX: readonly (readonly [program: string, ...words: string[]])[] = [
  ["xdg-terminal-exec"],
  ["x-terminal-emulator", "-e"],
  ["ptyxis", "--"],
  ["gnome-terminal", "--"],
  ["kgx", "--"],
  ["konsole", "-e"],
  ["xfce4-terminal", "-x"],
  ["ghostty", "-e"],
  ["kitty"],
  ["wezterm", "start", "--"],
  ["alacritty", "-e"],
  ["foot"],
  ["xterm", "-e"],
];

/** AppleScript whose argument is the line: nothing of a session becomes part of the script. */
const MAC = [
  "on run argv",
  'tell application "Terminal"',
  "activate",
  "do script (item 1 of argv)",
  "end tell",
  "end run",
];

/** Undefined on a machine without a terminal, or without a screen to show it on. */
export async function findTerminal({ platform, env }: AdapterEnv): Promise<Terminal | undefined> {
  if (platform === "darwin") return { name: "Terminal", words: ["osascript", ...MAC.flatMap((line) => ["-e", line])] };
  if (platform === "win32")
    return { name: "Terminal", words: ["cmd.exe", "/d", "/c", "start", "", "cmd.exe", "/d", "/k"] };
  if (!env.DISPLAY && !env.WAYLAND_DISPLAY) return undefined;
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
  for (const [program, ...words] of LINUX)
    for (const folder of folders)
      if (await isReachable(join(folder, program))) return { name: program, words: [join(folder, program), ...words] };
  return undefined;
}

/** Resolves when the terminal was started; it outlives the service. Throws NO_TERMINAL when it does not start. */
export async function openTerminal(
  terminal: Terminal,
  command: TerminalCommand,
  { platform, env }: AdapterEnv,
): Promise<void> {
  const [file = "", ...args] = [...terminal.words, ...toWords(command, platform, env.SHELL || "/bin/sh")];
  await new Promise<void>((resolve, reject) => {
    const child = spawn(file, args, { cwd: command.cwd, env: { ...env }, stdio: "ignore", detached: true });
    child.once("error", (cause) => reject(new SessarcError("NO_TERMINAL", { command: toLine(command) }, { cause })));
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}

/** After the command the user's shell stays, so that the terminal does not close over what was printed. */
function toWords(command: TerminalCommand, platform: NodeJS.Platform, shell: string): readonly string[] {
  if (platform === "darwin") return [toLine(command)];
  if (platform === "win32") return command.words;
  return [shell, "-c", `${command.words.join(" ")}; exec ${quoted(shell)}`];
}

const toLine = ({ words, cwd }: TerminalCommand) => `cd ${quoted(cwd)} && ${words.join(" ")}`;
