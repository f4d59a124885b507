/** Which file of a project holds the instructions for its assistants. */
import { join } from "node:path";
import { isSessarcError, type Kernel, SessarcError } from "sessarc";
import { exists, isFolder, outsideText, readOutside, resolveInside } from "sessarc/files";

export interface Instructions {
  /** The project's folder. */
  folder: string;
  /** The file a line is written into; it need not exist. */
  path: string;
  /** All instructions of the project, to see what they say already. */
  text: string;
}

const COMMON = "AGENTS.md";

/**
 * The file that the assistants of the sessions read, where it is there; else AGENTS.md, unless the only assistant does not read that. Null where the
 * folder is not there.
 */
export async function readInstructions(
  kernel: Kernel,
  folder: string,
  tools: readonly string[],
): Promise<Instructions | null> {
  if (!(await isFolder(folder))) return null;
  const archive = kernel.inject("archive");
  const facts = tools.map((tool) => archive.adapter(tool)?.instructions ?? { file: COMMON });
  const own = [...new Set(facts.map(({ file }) => file))];
  const needsOwn = facts.length > 0 && facts.every((it) => it.file !== COMMON && it.orCommon !== true);
  const texts = new Map<string, string>();
  for (const name of new Set([...own, COMMON])) {
    const text = await readText(join(folder, name));
    if (text !== undefined) texts.set(name, text);
  }
  return { folder, path: join(folder, choose(own, texts, needsOwn)), text: [...texts.values()].join("\n") };
}

function choose(own: readonly string[], texts: ReadonlyMap<string, string>, needsOwn: boolean): string {
  const [only] = own;
  if (own.length === 1 && only !== undefined && texts.has(only)) {
    // The file of one assistant may do nothing but name the common one.
    const isPassedOn = new RegExp(`(?:^|\\s)@(?:\\./)?${COMMON.replace(".", "\\.")}\\b`).test(texts.get(only) ?? "");
    return isPassedOn && texts.has(COMMON) ? COMMON : only;
  }
  if (own.length === 1 && only !== undefined && needsOwn) return only;
  if (texts.has(COMMON)) return COMMON;
  return own.find((name) => texts.has(name)) ?? COMMON;
}

/** Undefined if the file is missing, empty if it cannot be read: writing then reports why. */
async function readText(path: string): Promise<string | undefined> {
  if (!(await exists(path))) return undefined;
  try {
    return outsideText(await readOutside(path)).text;
  } catch (error) {
    if (isSessarcError(error)) return "";
    throw error;
  }
}

/** The file itself, behind links. Throws SETTINGS_UNUSABLE for one outside the project's folder: other projects may read it. */
export async function toReal({ folder, path }: Pick<Instructions, "folder" | "path">): Promise<string> {
  const real = await resolveInside(folder, path);
  if (real === undefined)
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: "it leads out of the project's folder" });
  return real;
}
