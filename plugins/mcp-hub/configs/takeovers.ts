/** Takeovers are placements: services and files change together, completely or not at all. */
import { isSessarcError, type Kernel, SessarcError } from "sessarc";
import { createPlacementGroups, newPlacementId, outsideBytes } from "sessarc/files";
import * as v from "valibot";
import type { ServiceEntry, ServicePatch, ServiceSource } from "../entry.ts";
import { mergeScopes } from "../policy/policy.ts";
import { takeoversIn } from "./folder.ts";
import { hasLink, merged } from "./merge.ts";
import type { ConfigParts } from "./places.ts";
import type { ServiceStep, TakeoverPlan } from "./plan.ts";
import type { TakeoverMode } from "./plan-files.ts";
import { type FileNote, fileNote, type RunNote, runNote, type TakeoverRun, type Takeovers } from "./taken.ts";
import type { Texts } from "./texts.ts";

/** Services as they were before a run. */
interface Before {
  created: string[];
  changed: ServiceEntry[];
}

export function createTakeovers({ storage }: Kernel, hub: ConfigParts, texts: Texts): Takeovers {
  return createPlacementGroups<RunNote, FileNote>({
    folder: takeoversIn(storage),
    readOnly: storage.readOnly,
    note: (value) => v.parse(runNote, value),
    fileNote: (value) => v.parse(fileNote, value),
    has: (file, entry) => hasLink(texts, entry, file),
    merge: (file, entry, original) => merged(texts, entry, file, original),
    damaged: ({ id }) => new SessarcError("MCP_BACKUP_DAMAGED", { id }),
    async takenBack({ id, note: { services } }) {
      if (services !== null) await undoServices(hub, (await hub.vault.open(id, services)) as Before);
    },
    putBack: (ids) => unlink(hub.services, ids),
  });
}

/** Throws MCP_CONFIG_CHANGED, SETTINGS_UNUSABLE, …: everything is as it was then. */
export async function applyTakeover(
  hub: ConfigParts,
  takeovers: Takeovers,
  plan: TakeoverPlan,
  mode: TakeoverMode,
): Promise<TakeoverRun> {
  const before: Before = { created: [], changed: [] };
  for (const { id, action } of plan.steps) {
    if (action === "created") before.created.push(id);
    else if (!before.created.includes(id) && !before.changed.some((entry) => entry.id === id))
      before.changed.push(await hub.services.get(id));
  }
  const id = newPlacementId(new Date());
  const files = plan.files.map(({ source: { file, place, bom }, edits, after }) => ({
    file,
    bytes: edits.length === 0 ? (file.bytes ?? Buffer.alloc(0)) : outsideBytes(after, bom),
    note: {
      tools: place.tools,
      syntax: place.contract.syntax,
      bytes: file.bytes?.length ?? 0,
      edits: edits.map((edit) =>
        edit.kind === "remove"
          ? { kind: edit.kind, path: [...edit.path] }
          : { kind: edit.kind, path: [...edit.path], key: edit.key },
      ),
    },
  }));
  const services = await hub.vault.seal(id, before);
  const first = async (run: TakeoverRun) => {
    for (const step of plan.steps) await applyService(hub, step, run);
  };
  return takeovers
    .write({ id, note: { mode, services }, files }, first, { mode, services: null })
    .catch(toChanged("Scan again; close the assistant if it keeps writing the file."));
}

/** Reports what to do about a file that another program writes. */
export const toChanged =
  (remedy: string) =>
  (cause: unknown): never => {
    if (!isSessarcError(cause) || cause.code !== "SETTINGS_CHANGED") throw cause;
    const path = "path" in cause.params ? String(cause.params.path) : "";
    throw new SessarcError("MCP_CONFIG_CHANGED", { path, remedy }, { cause });
  };

async function applyService({ services }: ConfigParts, step: ServiceStep, run: TakeoverRun): Promise<void> {
  const { id, name, fields, scope, action } = step;
  const backup = run.files.find(({ path }) => path === step.source.file);
  const source: ServiceSource = {
    ...step.source,
    importedAt: run.at,
    takenOver: run.note.mode !== "import",
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
