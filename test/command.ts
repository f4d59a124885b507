/** `sessarc …` in this process, from the sources: for what a command says and does. What only a process shows is in `built.ts`. */
import { main } from "../core/cli/main.ts";
import type { Ran } from "./built.ts";

/** Runs a command to its end. `home` is where every tool keeps its logs, and the working directory. */
export async function runCommand(
  args: readonly string[],
  home: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  const said = { stdout: "", stderr: "" };
  const sink = (name: keyof typeof said) => ({
    write(text: string) {
      said[name] += text;
    },
  });
  const code = await main({
    argv: args,
    cwd: home,
    // As spawnCli has it: nothing of the developer's own machine takes part.
    env: {
      home,
      platform: process.platform,
      env: { PATH: process.env.PATH ?? "", HOME: home, USERPROFILE: home, TMPDIR: home, TZ: "UTC", ...env },
    },
    stdout: sink("stdout"),
    stderr: sink("stderr"),
    signal: new AbortController().signal,
  });
  return { code, ...said };
}
