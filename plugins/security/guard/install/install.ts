/** Adds the guard's hook to an assistant's settings and removes it. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { isSessarcError, type Json, type JsonRecord, type Kernel, SessarcError, type Statement } from "sessarc";
import {
  createPlacements,
  type OutsideFile,
  outsideBytes,
  outsideText,
  type PlacedFile,
  type Placement,
  readOutside,
} from "sessarc/files";
import { serviceUrl } from "sessarc/serve";
import * as v from "valibot";
import type { RuleSet } from "../../secrets/rule-set.ts";
import { toDiff } from "./diff.ts";
import { createFired } from "./fired.ts";
import { canReport, fileText, type Guarded, guardedBy, guardedIn, readPlace, toForm, withEntries } from "./guarded.ts";
import { type HookRequest, hookIn, isWaitingHook } from "./hook-command.ts";
import { toPlaces, writeHookScript } from "./hook-script.ts";
import { findProblems } from "./problems.ts";

interface InstallOptions {
  onFailure?: "allow" | "block" | undefined;
  mode?: "enforce" | "observe" | undefined;
  /** Installs or removes the hooks that report that the assistant waits; undefined leaves them as they are. */
  waiting?: boolean | undefined;
  /** Files are stored before a call destroys them; undefined leaves the choice as it is. */
  net?: boolean | undefined;
  dryRun?: boolean | undefined;
}

export interface GuardStatus {
  tool: string;
  label: string;
  transport: "command" | "plugin";
  settingsPath: string;
  installed: boolean;
  /** The hook is installed and no known problem keeps it from working. */
  effective: boolean;
  /** Each problem with the step that solves it. */
  problems: string[];
  /** Address that the hook asks; null if it is not installed. */
  url: string | null;
  mode: "enforce" | "observe";
  onFailure: "allow" | "block" | null;
  installedAt: string | null;
  lastFiredAt: string | null;
  /** The hooks that report that the assistant waits are installed, too. */
  waiting: boolean;
  /** The assistant has such hooks. */
  canReportWaiting: boolean;
  /** Files are stored before a call destroys them. */
  net: boolean;
}

export interface InstallAnswer extends GuardStatus {
  /** Byte-exact copy of the previous settings; null if there were none. */
  backupPath: string | null;
  /** The change of the settings as a diff, secrets hidden. */
  diff: string;
}

export interface Installer {
  /** Without a name the first assistant with a guard. Throws GUARD_TOOL_UNKNOWN, GUARD_FAILURE_FIXED, SETTINGS_UNUSABLE, SETTINGS_CHANGED and leaves the settings unchanged then. */
  install(tool: string | undefined, options: InstallOptions): Promise<InstallAnswer>;
  uninstall(tool: string | undefined): Promise<{ removed: boolean; restored: boolean; settingsPath: string }>;
  /** Assistants that are on this machine, are always listed, or have the hook. */
  status(): Promise<GuardStatus[]>;
  choicesOf(client: string): Promise<{ mode: "enforce" | "observe"; net: boolean }>;
  /** The user's choice for calls that the guard cannot check; undefined if no hook is installed. */
  onFailureOf(client: string): Promise<"allow" | "block" | undefined>;
  /** Records that a hook asked. Returns the statement that stores it. */
  fired(client: string, hook: string | undefined, at: Date): Promise<Statement | undefined>;
  /** Updates the script and the token of installed hooks. Returns false if none is installed. */
  refresh(): Promise<boolean>;
}

/** Of an installed hook: its id, and what the user chose. */
const hookNote = v.object({
  id: v.string(),
  onFailure: v.picklist(["allow", "block"]),
  mode: v.picklist(["enforce", "observe"]),
  /** The hooks that report waiting are installed, too. */
  waiting: v.boolean(),
  /** Files are stored before a call destroys them. */
  net: v.optional(v.boolean(), false),
});
type HookNote = v.InferOutput<typeof hookNote>;

/** Of the file: what removing the entries needs, also when the adapter is gone. Null where the file is the hook. */
const fileNote = v.object({
  form: v.nullable(
    v.object({
      format: v.picklist(["json", "jsonc", "toml"]),
      lists: v.array(v.array(v.string())),
      root: v.record(
        v.string(),
        v.custom<Json>(() => true),
      ),
    }),
  ),
  /** Containers that the edits created. */
  made: v.array(v.array(v.string())),
});
type FileNote = v.InferOutput<typeof fileNote>;

export function createInstaller(kernel: Kernel, rules: RuleSet): Installer {
  const { storage, env } = kernel;
  const firings = createFired(storage.db);
  const placements = createPlacements<HookNote, FileNote>({
    folder: storage.path("files", "backups", "guard"),
    readOnly: storage.readOnly,
    note: (value) => v.parse(hookNote, value),
    fileNote: (value) => v.parse(fileNote, value),
    withdraw,
  });

  async function withdraw(
    file: OutsideFile,
    entry: PlacedFile<FileNote> | undefined,
    name: string,
  ): Promise<Buffer | null | undefined> {
    const { text, bom } = outsideText(file);
    if (!hookIn(text) && !isWaitingHook(text)) return undefined;
    const { form, made } = entry?.note ?? (await unknownFile(name));
    if (form === null) return null;
    const { removeOurs } = await import("./edit.ts");
    return outsideBytes(await removeOurs(text, form, made, file.path), bom);
  }

  /** A hook that is in no journal: one of another data directory, or of one that was lost. */
  async function unknownFile(name: string): Promise<FileNote> {
    const guarded = guardedBy(kernel, name);
    const { format } = await readPlace(guarded, env);
    const { contract } = guarded;
    return { form: contract.format === "file" || format === "file" ? null : toForm(contract, format), made: [] };
  }

  function requestFor(tool: string, id: string, onFailure: "allow" | "block"): HookRequest {
    return {
      tool,
      id,
      ...toPlaces(storage),
      url: `${serviceUrl(kernel)}api/security/pretooluse?client=${tool}&hook=${id}`,
      onFailure,
      platform: env.platform,
    };
  }

  /** Where the hook is, or will be. */
  async function find(guarded: Guarded) {
    const placement = await placements.find(guarded.tool);
    const [entry] = placement?.files ?? [];
    const place = entry
      ? { path: entry.path, format: entry.note.form?.format ?? ("file" as const) }
      : await readPlace(guarded, env);
    return { ...place, placement };
  }

  async function installOnce(name: string | undefined, options: InstallOptions): Promise<InstallAnswer> {
    const guarded = guardedBy(kernel, name);
    const { tool, contract } = guarded;
    const { path, format, placement: known } = await find(guarded);
    const onFailure = options.onFailure ?? known?.note.onFailure ?? contract.onFailure ?? "allow";
    if (contract.onFailure !== undefined && onFailure !== contract.onFailure)
      throw new SessarcError("GUARD_FAILURE_FIXED", { tool, only: contract.onFailure });
    const waiting = options.waiting ?? known?.note.waiting ?? false;
    if (waiting && !canReport(guarded))
      throw new SessarcError("GUARD_WAITING_UNKNOWN", {
        tool,
        known: guardedIn(kernel).flatMap((one) => (canReport(one) ? [one.tool] : [])),
      });
    const id = known?.note.id ?? randomBytes(6).toString("hex");
    const mode = options.mode ?? known?.note.mode ?? "enforce";
    const net = options.net ?? known?.note.net ?? false;
    const request = requestFor(tool, id, onFailure);
    const plan = await placements.plan(tool, path, async (before, entry) => {
      const ours = hookIn(before) !== undefined;
      if (contract.format === "file" || format === "file") {
        const text = contract.format === "file" ? fileText(contract, before, { request, waiting, ours, path }) : before;
        return { text, ours, note: { form: null, made: [] } };
      }
      const form = toForm(contract, format);
      const { text, made } = await withEntries(before, contract, form, request, waiting, path);
      return { text, ours, note: { form, made: [...(ours ? (entry?.note.made ?? []) : []), ...made] } };
    });
    const diff = await rules.hide(toDiff(plan.before, plan.after));
    if (options.dryRun)
      return { ...(await readStatus(guarded, path, format, known, plan.file)), backupPath: null, diff };
    await writeHookScript(toPlaces(storage).folder, kernel.access.scoped("guard"));
    const placement = await placements.write(plan, { id, onFailure, mode, waiting, net });
    const status = await readStatus(guarded, path, format, placement);
    return { ...status, backupPath: placements.backupPath(placement), diff };
  }

  async function uninstallOnce(name: string | undefined) {
    // One whose adapter is gone can still be removed.
    const known = name === undefined ? undefined : await placements.find(name);
    const guarded = known ? undefined : guardedBy(kernel, name);
    const settingsPath = known?.files[0]?.path ?? (guarded ? (await readPlace(guarded, env)).path : "");
    return { ...(await placements.undo(known?.name ?? guarded?.tool ?? "", settingsPath)), settingsPath };
  }

  async function readStatus(
    { tool, label, contract }: Guarded,
    path: string,
    format: "json" | "jsonc" | "toml" | "file",
    placement: Placement<HookNote, FileNote> | undefined,
    known?: OutsideFile,
  ): Promise<GuardStatus> {
    const status: GuardStatus = {
      tool,
      label,
      transport: contract.format === "file" ? "plugin" : "command",
      settingsPath: path,
      installed: false,
      effective: false,
      problems: [],
      url: null,
      mode: placement?.note.mode ?? "enforce",
      onFailure: placement?.note.onFailure ?? null,
      installedAt: placement?.at ?? null,
      lastFiredAt: placement ? await firings.last(tool, placement.note.id) : null,
      waiting: false,
      canReportWaiting: canReport({ tool, label, contract }),
      net: placement?.note.net ?? false,
    };
    try {
      const { text } = outsideText(known ?? (await readOutside(path)));
      const hook = hookIn(text);
      if (!hook) {
        if (placement) status.problems.push("The hook was installed, but its entry is missing from the settings");
        return status;
      }
      const { readHooks } = await import("./edit.ts");
      const settings: JsonRecord = format === "file" ? {} : await readHooks(text, { format }, path);
      status.installed = true;
      status.waiting = isWaitingHook(text);
      status.url = hook.url ?? requestFor(tool, hook.id, "allow").url;
      status.problems = await findProblems(kernel, contract, { path, settings, hook });
    } catch (error) {
      if (!isSessarcError(error)) throw error;
      status.problems.push(error.message);
    }
    status.effective = status.installed && status.problems.length === 0;
    return status;
  }

  return {
    install: (tool, options) => placements.alone(() => installOnce(tool, options)),
    uninstall: (tool) => placements.alone(() => uninstallOnce(tool)),
    async status() {
      const all = await Promise.all(guardedIn(kernel).map(async (guarded) => ({ guarded, ...(await find(guarded)) })));
      const shown = all.filter(({ guarded: { contract }, placement }) => {
        const home = contract.home?.(env);
        return placement !== undefined || home === undefined || existsSync(home);
      });
      return Promise.all(
        shown.map(({ guarded, path, format, placement }) => readStatus(guarded, path, format, placement)),
      );
    },
    async choicesOf(client) {
      const { mode = "enforce", net = false } = (await placements.find(client))?.note ?? {};
      return { mode, net };
    },
    async onFailureOf(client) {
      return (await placements.find(client))?.note.onFailure;
    },
    async fired(client, hook, at) {
      const id = (await placements.find(client))?.note.id;
      return id === undefined || id !== hook ? undefined : firings.record(client, id, at);
    },
    async refresh() {
      if ((await placements.all()).size === 0) return false;
      await writeHookScript(toPlaces(storage).folder, kernel.access.scoped("guard"));
      return true;
    },
  };
}
