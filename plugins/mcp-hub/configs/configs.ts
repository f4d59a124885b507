/** The tools' configuration files: scan, takeover, restore. One change at a time. */

import { isRecord, type Kernel, SessarcError } from "sessarc";
import { isAfter, outsideText, readOutside } from "sessarc/files";
import { toHubLink } from "./link.ts";
import { parts } from "./parts.ts";
import type { ConfigParts } from "./places.ts";
import { findContract } from "./places.ts";
import { planTakeover, type TakeoverPlan, type TakeoverRequest } from "./plan.ts";
import type { FileStep } from "./plan-files.ts";
import { type ConfigScan, scanConfigs } from "./scan.ts";
import type { TakenFile, TakeoverRun, Takeovers } from "./taken.ts";
import { applyTakeover, createTakeovers, toChanged } from "./takeovers.ts";
import { createTexts, type ShownChange } from "./texts.ts";

export interface ShownDiff {
  file: string;
  diff: string;
  /** The file does not exist yet. */
  isNew: boolean;
}
export interface Takeover {
  plan: TakeoverPlan;
  diffs: ShownDiff[];
  /** Null for a dry run. */
  run: TakeoverRun | null;
}
export interface BackupState extends TakenFile {
  run: TakeoverRun;
  /** `restored`: as it was before; `taken over`: as the takeover left it; `changed` since. */
  state: "imported" | "taken over" | "restored" | "changed" | "gone";
}

export interface Configs {
  scan(): Promise<ConfigScan>;
  takeover(request: TakeoverRequest, dryRun: boolean): Promise<Takeover>;
  backups(): Promise<BackupState[]>;
  restore(
    ids: readonly string[],
    options: { merge: boolean; dryRun: boolean },
  ): Promise<{ file: string; id: string; diff: string }[]>;
  /** Throws the originals of takeovers away: their files stay as they are. Throws MCP_BACKUP_NOT_FOUND. */
  forget(ids: readonly string[]): Promise<void>;
  /** Takes back or finishes what a crash left. Answers how many runs that were. */
  recover(): Promise<number>;
}

export function createConfigs(kernel: Kernel, hub: ConfigParts): Configs {
  const texts = createTexts(kernel.pool);
  const takeovers = createTakeovers(kernel, hub, texts);
  /** Entries that lead to the hub hold nothing secret. */
  async function shown(change: Omit<ShownChange, "safe">, added: readonly string[] = []): Promise<string> {
    const links = change.servers.filter((one) => toHubLink(one, kernel));
    const servers = change.servers.filter((one) => !links.includes(one));
    const safe = [...added, ...links.flatMap(({ url }) => url ?? [])];
    return kernel.inject("rules").hide(await texts.show({ ...change, servers, safe }));
  }

  async function shownStep({ source, after, edits }: FileStep): Promise<ShownDiff> {
    const { place, text, servers } = source;
    const { syntax } = place.contract;
    const added = edits.flatMap((edit) =>
      edit.kind === "set" && isRecord(edit.value) ? Object.values(edit.value) : [],
    );
    const safe = added.filter((value) => typeof value === "string");
    return {
      file: place.path,
      isNew: source.file.bytes === null,
      diff: await shown({ before: text, after, syntax, servers }, safe),
    };
  }

  async function shownRestore({
    entry: { id, path, note },
    file,
    bytes,
  }: Awaited<ReturnType<Takeovers["planUndo"]>>[number]) {
    const textIn = (of: Buffer | null) => outsideText({ ...file, bytes: of }).text;
    const contract = findContract(kernel, note.tools[0] ?? "");
    const serversIn = async (text: string) =>
      contract?.servers(await texts.parse(text, note.syntax, path).catch(() => ({})), parts) ?? [];
    const [before, after] = [textIn(file.bytes), textIn(bytes)];
    const servers = [...(await serversIn(before)), ...(await serversIn(after))];
    return {
      id,
      file: path,
      diff: await shown({ before, after, syntax: note.syntax, servers }),
    };
  }

  async function readState(entry: TakenFile): Promise<BackupState["state"]> {
    const file = await readOutside(entry.path).catch(() => undefined);
    if (!file) return "changed";
    if (file.bytes === null) return entry.created ? "restored" : "gone";
    if (isAfter(file, { ...entry, after: entry.before })) return entry.before === entry.after ? "imported" : "restored";
    return isAfter(file, entry) ? "taken over" : "changed";
  }

  /** Every file of every takeover. */
  const taken = async () =>
    (await takeovers.all()).flatMap((placement) => placement.files.map((entry) => ({ placement, entry })));

  return {
    scan: () => takeovers.alone(() => scanConfigs(kernel, hub)),
    takeover: (request, dryRun) =>
      takeovers.alone(async () => {
        const scan = await scanConfigs(kernel, hub);
        const plan = await planTakeover(kernel, scan, request, await hub.services.list());
        const edited = plan.files.filter(({ edits }) => edits.length > 0);
        const diffs = await Promise.all(edited.map(shownStep));
        return { plan, diffs, run: dryRun ? null : await applyTakeover(hub, takeovers, plan, request.mode) };
      }),
    backups: () =>
      takeovers.alone(async () =>
        Promise.all(
          (await taken()).map(async ({ placement, entry }) => ({
            ...entry,
            run: placement,
            state: await readState(entry),
          })),
        ),
      ),
    restore: (ids, { merge, dryRun }) =>
      takeovers.alone(async () => {
        const all = await taken();
        const chosen = all.filter(({ placement, entry }) => ids.includes(entry.id) || ids.includes(placement.id));
        const unknown = ids.filter(
          (id) => !chosen.some(({ placement, entry }) => entry.id === id || placement.id === id),
        );
        if (unknown.length > 0) throw new SessarcError("MCP_BACKUP_NOT_FOUND", { ids: unknown });
        const steps = await takeovers
          .planUndo(chosen, merge)
          .catch(toChanged("Restore with merge: the entries are put back, and what changed since stays."));
        if (!dryRun)
          await takeovers
            .undo(chosen, steps)
            .catch(toChanged("Scan again; close the assistant if it keeps writing the file."));
        return Promise.all(steps.map(shownRestore));
      }),
    forget: (ids) =>
      takeovers.alone(async () => {
        const chosen = (await takeovers.all()).filter(({ id }) => ids.includes(id));
        const unknown = ids.filter((id) => !chosen.some((run) => run.id === id));
        if (unknown.length > 0) throw new SessarcError("MCP_BACKUP_NOT_FOUND", { ids: unknown });
        for (const run of chosen) await takeovers.forget(run);
      }),
    recover: () => takeovers.recover(),
  };
}
