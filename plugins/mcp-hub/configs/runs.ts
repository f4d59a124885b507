/** Takeovers on disk: originals byte for byte, what was done, and what is not finished. Only the user may read the folder. */
import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { SessarcError, type Storage } from "sessarc";
import { digestOf, isGone, isTempName, writeFileAtomic } from "sessarc/files";
import * as v from "valibot";
import { takeoversIn } from "./folder.ts";

const path = v.array(v.string());
const fileSchema = v.object({
  id: v.string(),
  /** As the tool knows it, and the file itself. */
  file: v.string(),
  real: v.string(),
  tools: v.array(v.string()),
  syntax: v.picklist(["json", "jsonc", "toml"]),
  mode: v.number(),
  /** The takeover made the file, and from this folder on the folders above it. */
  created: v.optional(v.boolean(), false),
  folder: v.optional(v.nullable(v.string()), null),
  bytes: v.number(),
  before: v.string(),
  after: v.string(),
  /** Beside the file, while it is written. */
  temp: v.string(),
  /** What was done, without values: the original and the file have them. */
  edits: v.array(v.object({ kind: v.picklist(["remove", "set"]), path, key: v.optional(v.string()) })),
  restoredAt: v.nullable(v.string()),
});
const runSchema = v.object({
  id: v.string(),
  at: v.string(),
  mode: v.picklist(["import", "disable", "replace"]),
  /** `applying` and `restoring` are left by a crash alone. */
  state: v.picklist(["applying", "done", "restoring"]),
  files: v.array(fileSchema),
  /** Services as they were, sealed; while applying. */
  services: v.nullable(v.string()),
});
export type RunFile = v.InferOutput<typeof fileSchema>;
export type Run = v.InferOutput<typeof runSchema>;

export interface Runs {
  /** Newest first. A folder that cannot be read is left out. */
  all(): Promise<Run[]>;
  /** Removes what a crash left before anything had begun. */
  sweep(): Promise<void>;
  /** Writes originals, then the run itself. */
  begin(run: Run, originals: readonly Uint8Array[]): Promise<void>;
  save(run: Run): Promise<void>;
  remove(run: Pick<Run, "id">): Promise<void>;
  /** The original of a file; throws MCP_BACKUP_DAMAGED when it differs from what was stored. */
  original(run: Run, file: RunFile): Promise<Buffer>;
}

export const newRunId = (at: Date) =>
  `${at.toISOString().replace(/[-:.]/g, "").slice(0, 15)}-${randomBytes(3).toString("hex")}`;

export function createRuns(storage: Pick<Storage, "path">): Runs {
  const root = takeoversIn(storage);
  const folder = (run: Pick<Run, "id">) => join(root, run.id);
  const write = (run: Run) => writeFileAtomic(join(folder(run), "run.json"), `${JSON.stringify(run, null, 2)}\n`);
  const originalPath = (run: Run, file: RunFile) => join(folder(run), `${run.files.indexOf(file)}.original`);

  const names = () =>
    readdir(root).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    });

  return {
    async all() {
      const runs = await Promise.all((await names()).map((name) => readRun(join(root, name, "run.json"))));
      return runs.flatMap((run) => run ?? []).sort((a, b) => (a.id < b.id ? 1 : -1));
    },
    async sweep() {
      for (const id of await names()) {
        const files = await readdir(join(root, id)).catch(() => ["run.json"]);
        if (!files.includes("run.json")) await rm(join(root, id), { recursive: true, force: true });
        else for (const name of files) if (isTempName(name)) await rm(join(root, id, name), { force: true });
      }
    },
    async begin(run, originals) {
      await mkdir(folder(run), { recursive: true, mode: 0o700 });
      for (const [i, bytes] of originals.entries()) await writeFileAtomic(join(folder(run), `${i}.original`), bytes);
      await write(run);
    },
    save: write,
    remove: (run) => rm(folder(run), { recursive: true, force: true }),
    async original(run, file) {
      const bytes = await readFile(originalPath(run, file)).catch(() => undefined);
      if (!bytes || digestOf(bytes) !== file.before) throw new SessarcError("MCP_BACKUP_DAMAGED", { id: file.id });
      return bytes;
    },
  };
}

async function readRun(file: string): Promise<Run | undefined> {
  try {
    return v.parse(runSchema, JSON.parse(await readFile(file, "utf8")));
  } catch {
    // A crash before it was written: nothing had begun.
    return undefined;
  }
}
