/** `settings.json` in the data directory: what the user set in the dashboard. Code in the configuration file cannot be rewritten; this can. */
import { join } from "node:path";
import * as v from "valibot";
import { SessarcError } from "../errors/error.ts";
import { storageFailed } from "../storage/storage-error.ts";
import { writeFileAtomic } from "../utils/atomic.ts";
import { isGone } from "../utils/gone.ts";
import { makeFolder } from "../utils/make-folder.ts";
import { isNoFile, readRegular } from "../utils/regular.ts";

/** What the dashboard set, as `settings.json` of the data directory stores it. */
export interface Settings {
  /** Folders added by tool, absolute. */
  sources: Readonly<Record<string, readonly string[]>>;
  /** Keys of the configuration that were set here; what each may be is checked by who declares it. */
  values: Readonly<Record<string, unknown>>;
  /** Prices of models, dollars per million tokens; what each may hold is checked by who reads them. */
  prices: Readonly<Record<string, unknown>>;
}

const schema = v.looseObject({
  sources: v.optional(v.record(v.string(), v.array(v.string())), {}),
  values: v.optional(v.record(v.string(), v.unknown()), {}),
  prices: v.optional(v.record(v.string(), v.unknown()), {}),
});
const toFile = (dataDir: string) => join(dataDir, "settings.json");

/** Throws CONFIG_INVALID with the file's name when it is not a settings file. Without a file nothing is set. */
export async function readSettings(dataDir: string): Promise<Settings> {
  return v.parse(schema, await readWhole(dataDir));
}

/** Writers wait for each other: each reads the file, changes it and writes it. By data directory. */
const writing = new Map<string, Promise<void>>();

/** Replaces what `change` answers and keeps everything else in the file. Resolves when it is on disk; STORAGE_FULL, STORAGE_READ_ONLY else. */
export function writeSettings(
  dataDir: string,
  change: Partial<Settings> | ((now: Settings) => Partial<Settings>),
): Promise<void> {
  const write = async () => {
    const whole = await readWhole(dataDir);
    const changes = typeof change === "function" ? change(v.parse(schema, whole)) : change;
    await makeFolder(dataDir, 0o700);
    const path = toFile(dataDir);
    await writeFileAtomic(path, `${JSON.stringify({ ...whole, ...changes }, null, 2)}\n`).catch(storageFailed(path));
  };
  const done = (writing.get(dataDir) ?? Promise.resolve()).then(write, write);
  writing.set(dataDir, done);
  const forget = () => writing.get(dataDir) === done && writing.delete(dataDir);
  done.then(forget, forget);
  return done;
}

/** The file's own content, checked and otherwise as it stands. */
async function readWhole(dataDir: string): Promise<Record<string, unknown>> {
  const where = toFile(dataDir);
  let text: string;
  try {
    text = await readRegular(where);
  } catch (error) {
    if (isGone(error)) return {};
    if (isNoFile(error)) throw new SessarcError("CONFIG_INVALID", { key: "the file", where, reason: "It is no file" });
    throw error;
  }
  const result = v.safeParse(v.pipe(v.string(), v.parseJson(), schema), text);
  if (result.success) return JSON.parse(text) as Record<string, unknown>;
  const key = (result.issues[0].path ?? []).map((step) => String(step.key)).join(".") || "the file";
  throw new SessarcError("CONFIG_INVALID", { key, where, reason: result.issues[0].message });
}
