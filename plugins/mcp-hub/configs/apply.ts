/** A takeover is done completely or not at all: services and files change together, and a crash in between is undone. */

import { rm } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { isSessarcError, SessarcError } from "sessarc";
import {
  digestOf,
  isTempName,
  makeFolderOf,
  missingFolderOf,
  type OutsideFile,
  readOutside,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
  tempBeside,
} from "sessarc/files";
import type { ServiceEntry, ServicePatch, ServiceSource } from "../entry.ts";
import { mergeScopes } from "../policy/policy.ts";
import { hasLink, merged, toBytes } from "./merge.ts";
import type { ConfigParts } from "./places.ts";
import type { ServiceStep, TakeoverPlan } from "./plan.ts";
import type { FileStep, TakeoverMode } from "./plan-files.ts";
import { newRunId, type Run, type RunFile, type Runs } from "./runs.ts";
import type { Texts } from "./texts.ts";

/** Services as they were before a run. */
interface Before {
  created: string[];
  changed: ServiceEntry[];
}

/** Throws MCP_CONFIG_CHANGED, SETTINGS_UNUSABLE, …: everything is as it was then. */
export async function applyTakeover(
  hub: ConfigParts,
  runs: Runs,
  texts: Texts,
  plan: TakeoverPlan,
  mode: TakeoverMode,
): Promise<Run> {
  const now = new Date();
  const before: Before = { created: [], changed: [] };
  for (const { id, action } of plan.steps) {
    if (action === "created") before.created.push(id);
    else if (!before.created.includes(id) && !before.changed.some((entry) => entry.id === id))
      before.changed.push(await hub.services.get(id));
  }
  const id = newRunId(now);
  const run: Run = {
    id,
    at: now.toISOString(),
    mode,
    state: "applying",
    files: plan.files.map((step, i) => runFile(step, `${id}-${i}`)),
    services: await hub.vault.seal(id, before),
  };
  await runs.begin(
    run,
    plan.files.map(({ source }) => source.file.bytes ?? Buffer.alloc(0)),
  );
  try {
    for (const step of plan.steps) await applyService(hub, step, run, now);
    for (const [i, { source, after }] of plan.files.entries()) {
      const entry = run.files[i];
      if (!entry || entry.before === entry.after) continue;
      if (entry.folder !== null) await makeFolderOf(entry.real);
      await replaceOutside(source.file, toBytes(after, source.bom), entry.temp).catch(toChanged(entry.file));
    }
  } catch (error) {
    await undoRun(hub, runs, texts, run);
    throw error;
  }
  const done: Run = { ...run, state: "done", services: null };
  await runs.save(done);
  return done;
}

/** Reports what to do about a file that another program writes. */
export const toChanged = (path: string) => (cause: unknown) => {
  if (!isSessarcError(cause) || cause.code !== "SETTINGS_CHANGED") throw cause;
  const remedy = "Scan again; close the assistant if it keeps writing the file.";
  throw new SessarcError("MCP_CONFIG_CHANGED", { path, remedy }, { cause });
};

function runFile({ source, edits, after }: FileStep, id: string): RunFile {
  const { file, place, bom, hash } = source;
  return {
    id,
    file: place.path,
    real: file.real,
    tools: place.tools,
    syntax: place.contract.syntax,
    mode: file.mode,
    created: file.bytes === null,
    folder: file.bytes === null ? (missingFolderOf(dirname(file.real)) ?? null) : null,
    bytes: file.bytes?.length ?? 0,
    before: hash,
    after: edits.length === 0 ? hash : digestOf(toBytes(after, bom)),
    temp: tempBeside(file),
    edits: edits.map((edit) => ({ kind: edit.kind, path: [...edit.path], ...("key" in edit && { key: edit.key }) })),
    restoredAt: null,
  };
}

async function applyService({ services }: ConfigParts, step: ServiceStep, run: Run, now: Date): Promise<void> {
  const { id, name, fields, scope, action } = step;
  const backup = run.files.find(({ file }) => file === step.source.file);
  const source: ServiceSource = {
    ...step.source,
    importedAt: now.toISOString(),
    takenOver: run.mode !== "import",
    ...(backup && { backupId: backup.id }),
  };
  if (action === "created" && fields) {
    await services.put({ id, name, ...fields, scope }, [source]);
    return;
  }
  const known = await services.get(id);
  // A sign-in is preserved: no file mentions it. Other credentials are in the file's environment and headers.
  const stays = known.credential?.kind === "oauth" && fields?.transport !== "stdio";
  const patch: ServicePatch = {
    ...(fields && { ...fields, enabled: known.enabled, ...(!stays && { credential: null }) }),
    ...(fields && { policy: { ...fields.policy, tools: known.policy.tools } }),
    ...(id !== "sessarc" && { scope: mergeScopes(known.scope, scope) }),
  };
  await services.update(id, patch);
  await services.setSources(id, [...known.sources.filter(({ entryKey }) => entryKey !== source.entryKey), source]);
}

/**
 * Files get their originals, services are as they were. A file that another program changed meanwhile keeps its changes, and gets its entries
 * back where the hub's entry is in their place. Where that is impossible too, the services and the originals are retained.
 */
export async function undoRun(hub: ConfigParts, runs: Runs, texts: Texts, run: Run): Promise<void> {
  let isBack = true;
  for (const entry of run.files) {
    await removeTemp(entry);
    if (entry.after !== entry.before) isBack = (await undoFile(runs, texts, run, entry)) && isBack;
  }
  if (!isBack) return runs.save({ ...run, state: "done", services: null });
  if (run.services !== null) await undoServices(hub, (await hub.vault.open(run.id, run.services)) as Before);
  await runs.remove(run);
}

/** The original in the place of a file; a file that the takeover made is removed, with the folders made for it. */
export async function putBack(file: OutsideFile, original: Buffer, entry: RunFile): Promise<void> {
  if (!entry.created) return replaceOutside(file, original, entry.temp);
  await removeOutside(file);
  await removeMadeFolders(entry);
}

export async function removeMadeFolders({ real, folder }: RunFile): Promise<void> {
  if (folder !== null) await removeFoldersOf(real, folder);
}

/** False when entries of the file are still gone. */
async function undoFile(runs: Runs, texts: Texts, run: Run, entry: RunFile): Promise<boolean> {
  try {
    const file = await readOutside(entry.file);
    if (file.bytes === null) {
      await removeMadeFolders(entry);
      return true;
    }
    if (!entry.created && digestOf(file.bytes) === entry.before) return true;
    const original = await runs.original(run, entry);
    if (isAfter(file, entry)) await putBack(file, original, entry);
    else if (await hasLink(texts, entry, file))
      await replaceOutside(file, await merged(texts, entry, file, original), entry.temp);
    return true;
  } catch (error) {
    if (isSessarcError(error)) return false;
    throw error;
  }
}

async function undoServices({ services }: ConfigParts, { created, changed }: Before): Promise<void> {
  const known = new Set((await services.list()).map(({ id }) => id));
  for (const id of created) if (known.has(id)) await services.remove(id);
  for (const entry of changed) {
    if (!known.has(entry.id)) continue;
    const { id, sources, createdAt: _, updatedAt: __, ...fields } = entry;
    if (id !== "sessarc") await services.update(id, fields);
    await services.setSources(id, sources);
  }
}

/** What a crash left beside a file. */
export async function removeTemp({ temp }: RunFile): Promise<void> {
  if (isTempName(basename(temp))) await rm(temp, { force: true });
}

/** Whether a file is still what a run left. */
export const isAfter = (file: OutsideFile, entry: RunFile) =>
  file.bytes !== null && digestOf(file.bytes) === entry.after;
