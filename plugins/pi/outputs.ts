/** Outputs of commands over 50 KB: pi stores them in the folder for temporary files, and names the file beside the text. */
import { existsSync } from "node:fs";
import { isAbsolute, win32 } from "node:path";
import { toRecord, toText } from "sessarc";
import { type NewEvent, storedOutput } from "sessarc/adapter";

/** Nothing but such a file is read, whatever a log says. */
const FILE = /^pi-bash-[\w-]{1,100}\.log$/;

export type Outputs = (shown: string, fields: unknown) => Pick<NewEvent, "text" | "truncated">;

/**
 * The text of a result or of a command; `fields` names the file. `path`: of the log. Where it is not there, the rows are another
 * machine's, which have nothing to say of the files of this one.
 */
export const createOutputs = (path: string | undefined): Outputs =>
  path !== undefined && existsSync(path) ? wholeOutput : (text) => ({ text });

function wholeOutput(shown: string, fields: unknown): ReturnType<Outputs> {
  const named = toText(toRecord(fields).fullOutputPath);
  if (named === undefined || !FILE.test(win32.basename(named))) return { text: shown };
  const said = isAbsolute(named) ? [named.slice(0, -win32.basename(named).length)] : [];
  return storedOutput(shown, named, [...said, "/tmp"]);
}
