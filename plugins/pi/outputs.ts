/** Outputs of commands over 50 KB: pi stores them in the folder for temporary files, and names the file beside the text. */
import { isAbsolute, win32 } from "node:path";
import { type NewEvent, storedOutput, toRecord, toText } from "sessarc/adapter";

/** Nothing but such a file is read, whatever a log says. */
const FILE = /^pi-bash-[\w-]{1,100}\.log$/;

/** The text of a result or of a command; `fields`: where the file is named. */
export function wholeOutput(shown: string, fields: unknown): Pick<NewEvent, "text" | "truncated"> {
  const named = toText(toRecord(fields).fullOutputPath);
  if (named === undefined || !FILE.test(win32.basename(named))) return { text: shown };
  const said = isAbsolute(named) ? [named.slice(0, -win32.basename(named).length)] : [];
  return storedOutput(shown, named, [...said, "/tmp"]);
}
