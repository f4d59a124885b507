/** `settings.json` in the data directory: what the user set in the dashboard. Code in the configuration file cannot be rewritten; this can. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { SessarcError } from "../errors/error.ts";
import { writeFileAtomic } from "../utils/atomic.ts";
import { isGone } from "../utils/gone.ts";
import { makeFolder } from "../utils/make-folder.ts";

export interface Settings {
  /** Folders added by tool, absolute. */
  sources: Readonly<Record<string, readonly string[]>>;
}

const schema = v.looseObject({ sources: v.optional(v.record(v.string(), v.array(v.string()))) });
const fileOf = (dataDir: string) => join(dataDir, "settings.json");

/** Throws CONFIG_INVALID naming the file when it is none of ours; without one nothing is set. */
export async function readSettings(dataDir: string): Promise<Settings> {
  return { sources: (await readWhole(dataDir)).sources ?? {} };
}

/** Replaces what `changes` names and keeps everything else in the file. Resolves when it is on disk. One writer at a time. */
export async function writeSettings(dataDir: string, changes: Partial<Settings>): Promise<void> {
  const whole = { ...(await readWhole(dataDir)), ...changes };
  await makeFolder(dataDir, 0o700);
  await writeFileAtomic(fileOf(dataDir), `${JSON.stringify(whole, null, 2)}\n`);
}

async function readWhole(dataDir: string): Promise<v.InferOutput<typeof schema>> {
  const where = fileOf(dataDir);
  let text: string;
  try {
    text = await readFile(where, "utf8");
  } catch (error) {
    if (isGone(error)) return {};
    throw error;
  }
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (result.success) return result.output;
  const key = (result.issues[0].path ?? []).map((step) => String(step.key)).join(".") || "the file";
  throw new SessarcError("CONFIG_INVALID", { key, where, reason: result.issues[0].message });
}
