/** The tools' configuration files: scan, takeover, restore. One change at a time. */

import { createQueue, isRecord, type Kernel, SessarcError } from "sessarc";
import { outsideText, readOutside } from "sessarc/files";
import { applyTakeover, isAfter, undoRun } from "./apply.ts";
import { hubLinkOf } from "./link.ts";
import { parts } from "./parts.ts";
import type { ConfigParts } from "./places.ts";
import { contractOf } from "./places.ts";
import { planTakeover, type TakeoverPlan, type TakeoverRequest } from "./plan.ts";
import type { FileStep } from "./plan-files.ts";
import { applyRestore, finishRestore, planRestore, type RestoreStep } from "./restore.ts";
import { createRuns, type Run, type RunFile } from "./runs.ts";
import { type ConfigScan, scanConfigs } from "./scan.ts";
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
  run: Run | null;
}
export interface BackupState extends RunFile {
  run: Run;
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
  const runs = createRuns(kernel.storage);
  const texts = createTexts(kernel.pool);
  const queue = createQueue();
  let recovered: Promise<number> | undefined;

  const alone = <T>(work: () => Promise<T>): Promise<T> =>
    queue(async () => {
      try {
        return await work();
      } catch (error) {
        // It may have left something half done: the next one checks.
        recovered = undefined;
        throw error;
      }
    });

  async function recoverOnce(): Promise<number> {
    // It is for the next one who may write.
    if (kernel.storage.readOnly) return 0;
    await runs.sweep();
    const open = (await runs.all()).filter(({ state }) => state !== "done");
    for (const run of open)
      await (run.state === "applying" ? undoRun(hub, runs, texts, run) : finishRestore(hub, runs, run));
    return open.length;
  }
  const recover = () => {
    recovered ??= recoverOnce().catch((error) => {
      recovered = undefined;
      throw error;
    });
    return recovered;
  };

  /** Entries that lead to the hub hold nothing secret. */
  async function shown(change: Omit<ShownChange, "safe">, added: readonly string[] = []): Promise<string> {
    const links = change.servers.filter((one) => hubLinkOf(one, kernel));
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

  async function shownRestore({ entry, file, bytes }: RestoreStep) {
    const textIn = (of: Buffer | null) => outsideText({ ...file, bytes: of }).text;
    const contract = contractOf(kernel, entry.tools[0] ?? "");
    const serversIn = async (text: string) =>
      contract?.servers(await texts.parse(text, entry.syntax, entry.file).catch(() => ({})), parts) ?? [];
    const [before, after] = [textIn(file.bytes), textIn(bytes)];
    const servers = [...(await serversIn(before)), ...(await serversIn(after))];
    return {
      id: entry.id,
      file: entry.file,
      diff: await shown({ before, after, syntax: entry.syntax, servers }),
    };
  }

  async function stateOf(entry: RunFile): Promise<BackupState["state"]> {
    const file = await readOutside(entry.file).catch(() => undefined);
    if (!file) return "changed";
    if (file.bytes === null) return entry.created ? "restored" : "gone";
    if (isAfter(file, { ...entry, after: entry.before })) return entry.before === entry.after ? "imported" : "restored";
    return isAfter(file, entry) ? "taken over" : "changed";
  }

  async function backups(): Promise<BackupState[]> {
    const all = (await runs.all()).flatMap((run) => run.files.map((entry) => ({ run, entry })));
    return Promise.all(all.map(async ({ run, entry }) => ({ ...entry, run, state: await stateOf(entry) })));
  }

  return {
    scan: () =>
      alone(async () => {
        await recover();
        return scanConfigs(kernel, hub);
      }),
    takeover: (request, dryRun) =>
      alone(async () => {
        await recover();
        const scan = await scanConfigs(kernel, hub);
        const plan = await planTakeover(kernel, scan, request, await hub.services.list());
        const edited = plan.files.filter(({ edits }) => edits.length > 0);
        const diffs = await Promise.all(edited.map(shownStep));
        return { plan, diffs, run: dryRun ? null : await applyTakeover(hub, runs, texts, plan, request.mode) };
      }),
    backups: () =>
      alone(async () => {
        await recover();
        return backups();
      }),
    restore: (ids, { merge, dryRun }) =>
      alone(async () => {
        await recover();
        const all = (await runs.all()).flatMap((run) => run.files.map((entry) => ({ run, entry })));
        const chosen = all.filter(({ run, entry }) => ids.includes(entry.id) || ids.includes(run.id));
        const unknown = ids.filter((id) => !chosen.some(({ run, entry }) => entry.id === id || run.id === id));
        if (unknown.length > 0) throw new SessarcError("MCP_BACKUP_NOT_FOUND", { ids: unknown });
        const steps = await planRestore(runs, texts, chosen, merge);
        if (!dryRun) await applyRestore(hub, runs, chosen, steps);
        return Promise.all(steps.map(shownRestore));
      }),
    forget: (ids) =>
      alone(async () => {
        await recover();
        const chosen = (await runs.all()).filter(({ id }) => ids.includes(id));
        const unknown = ids.filter((id) => !chosen.some((run) => run.id === id));
        if (unknown.length > 0) throw new SessarcError("MCP_BACKUP_NOT_FOUND", { ids: unknown });
        for (const run of chosen) await runs.remove(run);
      }),
    recover: () => alone(recover),
  };
}
