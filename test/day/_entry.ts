/** Entries that start a program at login, run as the system would: each text is taken apart by the rules of who reads it. */
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";

/** What a session has before the user's profile is read. */
const bare = (home: string) => ({ HOME: home, PATH: "/usr/bin:/bin" });

/** Starts what the entry says, in the environment of a new session; does not wait for it. */
export async function runEntry({ kind, path }: { kind: string; path: string }, home: string): Promise<void> {
  const text = await readFile(path, "utf8");
  if (kind === "profile") return start(["/bin/sh", "-c", `. '${path}'`], bare(home), home);
  if (kind === "autostart") return start(desktopWords(oneOf(text, "Exec")), bare(home), home);
  const variables = toValues(text, "Environment").flatMap(systemdWords);
  const pairs = variables.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  start(systemdWords(oneOf(text, "ExecStart")), { ...bare(home), ...Object.fromEntries(pairs) }, home);
}

function start([file = "", ...args]: readonly string[], env: Record<string, string>, cwd: string): void {
  spawn(file, args, { env, cwd, stdio: "ignore", detached: true }).unref();
}

const toValues = (text: string, key: string) =>
  text.split("\n").flatMap((line) => (line.startsWith(`${key}=`) ? [line.slice(key.length + 1)] : []));
const oneOf = (text: string, key: string) => toValues(text, key)[0] ?? "";

/** systemd.syntax and systemd.service: quoted words, C escapes, `%%` and `$$`. */
export const systemdWords = (line: string): string[] =>
  [...line.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) =>
    word
      .replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char))
      .replaceAll("%%", "%")
      .replaceAll("$$", "$"),
  );

/** The Desktop Entry Specification: first the escapes of a string, then the quoting of Exec, then field codes. */
export const desktopWords = (line: string): string[] =>
  [...line.replaceAll("\\\\", "\\").matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, word = ""]) =>
    word.replace(/\\(.)/g, "$1").replaceAll("%%", "%"),
  );
