/** Work that was not committed when the session began, as far as the log shows it: whole files that were read before their first change. */
import { SessarcError } from "sessarc";
import type { SeenFile } from "../plan/types.ts";
import { toCoding } from "./encoding.ts";
import type { Sandbox } from "./sandbox.ts";

export async function layOver(
  sandbox: Sandbox,
  seen: readonly SeenFile[],
): Promise<{ added: number; notes: string[] }> {
  let added = 0;
  const changed: string[] = [];
  const made: string[] = [];
  for (const file of seen) {
    const data = await differing(sandbox, file);
    if (data === undefined) continue;
    const fresh = data.before === null;
    await sandbox.tree.write(file.path, data.after);
    if (fresh) added++;
    (fresh ? made : changed).push(`${file.path} (message ${file.seq})`);
  }
  const notes: string[] = [];
  if (changed.length > 0)
    notes.push(`Not committed when the session began, taken from what it read: ${changed.join(", ")}`);
  if (made.length > 0) notes.push(`Not in the commit, taken from what the session read: ${made.join(", ")}`);
  return { added, notes };
}

/** Undefined when the log shows nothing but what is there. */
async function differing(
  sandbox: Sandbox,
  file: SeenFile,
): Promise<{ before: Buffer | null; after: Buffer } | undefined> {
  let before: Buffer | null;
  try {
    before = (await sandbox.tree.read(file.path))?.data ?? null;
  } catch (error) {
    // The commit has a link or a folder of that name: it is left as it is.
    if (error instanceof SessarcError) return undefined;
    throw error;
  }
  if (before === null) return { before, after: Buffer.from(withEnd(file.text)) };
  const coding = toCoding(before);
  const text = coding.decode(before);
  const bom = /^(?:\u00ef\u00bb\u00bf|\ufeff)/.exec(text)?.[0] ?? "";
  const [was, shown] = [plain(text.slice(bom.length)), plain(coding.of(file.text))];
  // A tool that shows the beginning of a long file without a word must not shorten it.
  if (was === shown || was.startsWith(shown)) return undefined;
  const ended = /\n$/.test(text) || text === "" ? `${shown}\n` : shown;
  const lines = text.includes("\r\n") ? ended.replaceAll("\n", "\r\n") : ended;
  return { before, after: coding.encode(bom + lines) };
}

/** Reads lose line ends: those of Windows, and the last. */
const plain = (text: string) => text.replaceAll("\r\n", "\n").replace(/\n$/, "");
const withEnd = (text: string) => (text === "" || text.endsWith("\n") ? text : `${text}\n`);
