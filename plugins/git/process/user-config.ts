/** The one value of the user's own configuration that changes what `git status` lists. */
import { execFile } from "node:child_process";
import { parse } from "node:path";
import { gitEnvironment } from "./exec.ts";

/**
 * Every other process runs without the user's configuration, so the global ignore list is named to it. Read once
 * (one process) at the first status; null when it is not set.
 */
export function createExcludesReader(options: {
  binary: string;
  env: Readonly<Record<string, string | undefined>>;
}): () => Promise<string | null> {
  let asked: Promise<string | null> | undefined;
  const { GIT_CONFIG_GLOBAL: _, ...env } = gitEnvironment(options.env);
  const cwd = parse(process.cwd()).root;
  const args = ["config", "--global", "--includes", "--type=path", "--get", "core.excludesFile"];
  return () => {
    asked ??= new Promise((resolve) => {
      execFile(options.binary, args, { env, cwd, timeout: 2_000, windowsHide: true }, (error, stdout) => {
        // Exit 1 means unset. Any other failure leaves status without the list, which only shows more files.
        const path = stdout.replace(/\n$/, "");
        resolve(error || path === "" ? null : path);
      });
    });
    return asked;
  };
}
