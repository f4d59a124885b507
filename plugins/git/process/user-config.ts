/** The one value of the user's own configuration that changes what `git status` lists. */
import { parse } from "node:path";
import { exec } from "sessarc/files";
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
  const cwd = parse(process.execPath).root;
  const args = ["config", "--global", "--includes", "--type=path", "--get", "core.excludesFile"];
  const ask = async () => {
    const result = await exec(options.binary, args, { env, cwd, timeoutMs: 2_000 }).catch(() => undefined);
    // Exit 1 means unset. Any other failure leaves status without the list, which only shows more files.
    const path = result?.code === 0 ? result.stdout.toString().replace(/\n$/, "") : "";
    return path === "" ? null : path;
  };
  return () => {
    asked ??= ask();
    return asked;
  };
}
