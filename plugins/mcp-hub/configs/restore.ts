/** Configurations as they were before a takeover: byte for byte, or, where they were changed since, entry by entry. */

import { SessarcError } from "sessarc";
import { digestOf, makeFolderOf, type OutsideFile, readOutside, removeOutside, replaceOutside } from "sessarc/files";
import { isAfter, putBack, removeMadeFolders, removeTemp, toChanged } from "./apply.ts";
import { merged } from "./merge.ts";
import type { ConfigParts } from "./places.ts";
import type { Run, RunFile, Runs } from "./runs.ts";
import type { Texts } from "./texts.ts";

export interface RestoreStep {
  run: Run;
  entry: RunFile;
  file: OutsideFile;
  /** Null: the takeover made the file, and it is removed. */
  bytes: Buffer | null;
}

/** Throws MCP_CONFIG_CHANGED for a file that changed since, unless `merge`: then its entries are put back and the rest of it stays. */
export async function planRestore(
  runs: Runs,
  texts: Texts,
  chosen: readonly { run: Run; entry: RunFile }[],
  merge: boolean,
): Promise<RestoreStep[]> {
  const steps: RestoreStep[] = [];
  for (const { run, entry } of chosen) {
    const file = await readOutside(entry.file);
    const original = await runs.original(run, entry);
    if (entry.created ? file.bytes === null : file.bytes !== null && digestOf(file.bytes) === entry.before) continue;
    if (entry.created && isAfter(file, entry)) {
      steps.push({ run, entry, file, bytes: null });
      continue;
    }
    // One that is gone is put back with the mode it had.
    if (file.bytes === null || isAfter(file, entry))
      steps.push({ run, entry, file: file.bytes === null ? { ...file, mode: entry.mode } : file, bytes: original });
    else if (merge) steps.push({ run, entry, file, bytes: await merged(texts, entry, file, original) });
    else
      throw new SessarcError("MCP_CONFIG_CHANGED", {
        path: entry.file,
        remedy: "Restore with merge: the entries are put back, and what changed since stays.",
      });
  }
  return steps;
}

/** Puts originals in their places. A crash in between is finished by `finishRestore`. */
export async function applyRestore(
  { services }: Pick<ConfigParts, "services">,
  runs: Runs,
  chosen: readonly { run: Run; entry: RunFile }[],
  steps: readonly RestoreStep[],
): Promise<void> {
  const touched = [...new Set(chosen.map(({ run }) => run))];
  for (const run of touched) await runs.save({ ...run, state: "restoring" });
  const written: RestoreStep[] = [];
  try {
    for (const step of steps) {
      const { file, bytes, entry } = step;
      const done = bytes === null ? putBack(file, Buffer.alloc(0), entry) : replaceOutside(file, bytes, entry.temp);
      await done.catch(toChanged(entry.file));
      written.push(step);
    }
  } catch (error) {
    for (const step of written) await takeBack(step);
    for (const run of touched) await runs.save(run);
    throw error;
  }
  await unlink(
    services,
    chosen.map(({ entry }) => entry.id),
  );
  const at = new Date().toISOString();
  for (const run of touched) {
    const files = run.files.map((entry) =>
      chosen.some((one) => one.entry === entry) ? { ...entry, restoredAt: at } : entry,
    );
    await runs.save({ ...run, files, state: "done" });
  }
}

async function takeBack({ file, bytes, entry }: RestoreStep): Promise<void> {
  const now = { ...file, bytes };
  if (file.bytes === null) await removeOutside(now);
  else {
    if (bytes === null) await makeFolderOf(entry.real);
    await replaceOutside(now, file.bytes, entry.temp);
  }
}

/** After a crash: what was restored until then is; the rest is still taken over and can be restored again. */
export async function finishRestore({ services }: Pick<ConfigParts, "services">, runs: Runs, run: Run): Promise<void> {
  const at = new Date().toISOString();
  const files: RunFile[] = [];
  for (const entry of run.files) {
    await removeTemp(entry);
    const file = await readOutside(entry.file).catch(() => undefined);
    const isBack = entry.created
      ? file?.bytes === null
      : file?.bytes && entry.before !== entry.after && digestOf(file.bytes) === entry.before;
    if (isBack) await removeMadeFolders(entry);
    files.push(isBack ? { ...entry, restoredAt: entry.restoredAt ?? at } : entry);
  }
  await unlink(
    services,
    files.flatMap(({ id, restoredAt }) => (restoredAt === null ? [] : [id])),
  );
  await runs.save({ ...run, files, state: "done" });
}

/** Their services stay in the hub, but no file leads to it any more instead of to them. */
async function unlink(services: ConfigParts["services"], backups: readonly string[]): Promise<void> {
  for (const { id, sources } of await services.list()) {
    const isOf = ({ backupId, takenOver }: (typeof sources)[number]) =>
      takenOver === true && backups.includes(backupId ?? "");
    if (sources.some(isOf))
      await services.setSources(
        id,
        sources.map((source) => (isOf(source) ? { ...source, takenOver: false } : source)),
      );
  }
}
