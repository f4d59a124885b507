/** Outputs over some 20 KB: Copilot stores them in the folder for temporary files, and the log has the first 500 characters. */
import { existsSync } from "node:fs";
import { isAbsolute, win32 } from "node:path";
import { type AdapterEnv, type NewEvent, storedOutput } from "sessarc/adapter";

const NAMED = /^Output too large to read at once \([^\n)]{1,40}\)\. Saved to: ([^\n]{1,4096})\n/;
/** Nothing but such a file is read, whatever a log says. */
const FILE = /^(?:\d{10,}-)?copilot-tool-output-[\w-]{1,100}\.txt$/;

export type Outputs = (shown: string) => Pick<NewEvent, "text" | "truncated">;

/**
 * `path`: of the log. Where it is not there, the rows are another machine's, which have nothing to say of the files of this one. `env`:
 * whose folder for temporary files counts beside the one that the log names.
 */
export function createOutputs(path: string, { env }: Pick<AdapterEnv, "env">): Outputs {
  if (!existsSync(path)) return (text) => ({ text });
  const temporary = [env.TMPDIR, env.TEMP, "/tmp"].flatMap((folder) => (folder ? [folder] : []));
  return (shown) => {
    const named = shown.startsWith("Output too large") ? NAMED.exec(shown)?.[1]?.trim() : undefined;
    if (named === undefined || !FILE.test(win32.basename(named))) return { text: shown };
    const said = isAbsolute(named) ? [named.slice(0, -win32.basename(named).length)] : [];
    return storedOutput(shown, named, [...said, ...temporary]);
  };
}
