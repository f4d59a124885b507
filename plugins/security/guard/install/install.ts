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
import { OFFERS, type Offer } from "../contract.ts";
import { toDiff } from "./diff.ts";
import { addEntries } from "./edit.ts";
import { createFired } from "./fired.ts";
import {
  canReport,
  fileText,
  type Guarded,
  guardedBy,
  guardedIn,
  offersOf,
  readPlace,
  toEntries,
  toForm,
} from "./guarded.ts";
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
  /** What is offered to the model by installed hooks, and what its hooks allow. */
  offers: Offer[];
  canOffer: Offer[];
}

export interface InstallAnswer extends GuardStatus {
  /** Byte-exact copy of the previous settings; null if there were none. */
  backupPath: string | null;
  /** The change of the settings as a diff, secrets hidden. */
  diff: string;
}

export interface Uninstalled {
  removed: boolean;
  /** The settings are byte for byte what they were before anything was installed. */
  restored: boolean;
  settingsPath: string;
}

/** `removed`, `restored`: of removing all that was installed. */
export type OfferAnswer = InstallAnswer & Pick<Uninstalled, "removed" | "restored">;

export interface Installer {
  /** Without a name the first assistant with a guard. Throws GUARD_TOOL_UNKNOWN, GUARD_FAILURE_FIXED, SETTINGS_UNUSABLE, SETTINGS_CHANGED and leaves the settings unchanged then. */
  install(tool: string | undefined, options: InstallOptions): Promise<InstallAnswer>;
  /** What was installed for `offer` remains. */
  uninstall(tool: string | undefined): Promise<Uninstalled>;
  /**
   * Installs the hooks that offer these to the model, as far as the assistant has them, with the guard or without it; none: removes them. Throws GUARD_TOOL_UNKNOWN,
   * GUARD_OFFER_UNKNOWN, and what `install` throws of the settings.
   */
  offer(
    tool: string | undefined,
    offers: readonly Offer[],
    options?: { dryRun?: boolean | undefined },
  ): Promise<OfferAnswer>;
  /** Assistants that are on this machine, are always listed, or have the hook. */
  status(): Promise<GuardStatus[]>;
  choicesOf(client: string): Promise<{ mode: "enforce" | "observe"; net: boolean; offers: readonly Offer[] }>;
  /** The user's choice for calls that the guard cannot check; undefined if no hook is installed. */
  onFailureOf(client: string): Promise<"allow" | "block" | undefined>;
  /** Records that a hook asked. Returns the statement that stores it. */
  fired(client: string, hook: string | undefined, at: Date): Promise<Statement | undefined>;
  /** Whether hooks of any assistant offer something. */
  isOffering(): Promise<boolean>;
  /** Updates the script and the token of installed hooks. Returns false if none is installed. */
  refresh(): Promise<boolean>;
}

/** Of an installed hook: its id, and what the user chose. */
const hookNote = v.object({
  id: v.string(),
  onFailure: v.picklist(["allow", "block"]),
  /** `off`: the hooks are there for what they offer alone. */
  mode: v.picklist(["enforce", "observe", "off"]),
  /** The hooks that report waiting are installed, too. */
  waiting: v.boolean(),
  /** Files are stored before a call destroys them. */
  net: v.optional(v.boolean(), false),
  offers: v.optional(v.array(v.picklist(OFFERS)), []),
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

/** Of hooks that are there for what they offer. */
const NO_GUARD = { onFailure: "allow", mode: "off", waiting: false, net: false } as const;

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
    const note = (await placements.find(tool))?.note;
    const known = note?.mode === "off" ? undefined : note;
    const onFailure = options.onFailure ?? known?.onFailure ?? contract.onFailure ?? "allow";
    if (contract.onFailure !== undefined && onFailure !== contract.onFailure)
      throw new SessarcError("GUARD_FAILURE_FIXED", { tool, only: contract.onFailure });
    const waiting = options.waiting ?? known?.waiting ?? false;
    if (waiting && !canReport(guarded))
      throw new SessarcError("GUARD_WAITING_UNKNOWN", {
        tool,
        known: guardedIn(kernel).flatMap((one) => (canReport(one) ? [one.tool] : [])),
      });
    const mode = options.mode ?? known?.mode ?? "enforce";
    const net = options.net ?? known?.net ?? false;
    return place(guarded, { onFailure, mode, waiting, net, offers: note?.offers ?? [] }, options.dryRun === true);
  }

  async function offerOnce(name: string | undefined, offers: readonly Offer[], dryRun: boolean): Promise<OfferAnswer> {
    const guarded = guardedBy(kernel, name);
    const possible = offersOf(guarded);
    const none = { removed: false, restored: false };
    if (possible.length === 0)
      throw new SessarcError("GUARD_OFFER_UNKNOWN", {
        tool: guarded.tool,
        known: guardedIn(kernel).flatMap((one) => (offersOf(one).length > 0 ? [one.tool] : [])),
      });
    const { path, format, placement } = await find(guarded);
    const note = placement?.note;
    if (offers.length === 0 && (!note || note.mode === "off") && !dryRun) {
      const done = note === undefined ? none : await placements.undo(guarded.tool, path);
      return { ...(await readStatus(guarded, path, format, undefined)), backupPath: null, diff: "", ...done };
    }
    const wanted = { ...(note ?? NO_GUARD), offers: possible.filter((one) => offers.includes(one)) };
    return { ...(await place(guarded, wanted, dryRun)), ...none, removed: offers.length === 0 && !dryRun };
  }

  /** Writes the hooks that a note asks for. */
  async function place(guarded: Guarded, wanted: Omit<HookNote, "id">, dryRun: boolean): Promise<InstallAnswer> {
    const { tool, contract } = guarded;
    const { path, format, placement: known } = await find(guarded);
    const { onFailure, waiting, mode, offers } = wanted;
    const id = known?.note.id ?? randomBytes(6).toString("hex");
    const request = requestFor(tool, id, onFailure);
    const plan = await placements.plan(tool, path, async (before, entry) => {
      const ours = hookIn(before) !== undefined;
      if (contract.format === "file" || format === "file") {
        const text = contract.format === "file" ? fileText(contract, before, { request, waiting, ours, path }) : before;
        return { text, ours, note: { form: null, made: [] } };
      }
      const form = toForm(contract, format);
      const entries = toEntries(contract, request, { guards: mode !== "off", waiting, offers }, guarded.tools);
      const earlier = ours ? (entry?.note.made ?? []) : [];
      const { text, made } = await addEntries(before, form, entries, earlier, path);
      return { text, ours, note: { form, made } };
    });
    const diff = await rules.hide(toDiff(plan.before, plan.after));
    if (dryRun) return { ...(await readStatus(guarded, path, format, known, plan.file)), backupPath: null, diff };
    await writeHookScript(toPlaces(storage).folder, kernel.access.scoped("guard"));
    const placement = await placements.write(plan, { ...wanted, id });
    const status = await readStatus(guarded, path, format, placement);
    return { ...status, backupPath: placements.backupPath(placement), diff };
  }

  async function uninstallOnce(name: string | undefined): Promise<Uninstalled> {
    const placed = name === undefined ? undefined : await placements.find(name);
    // One whose adapter is gone can still be removed.
    const guarded =
      guardedIn(kernel).find(({ tool }) => tool === placed?.name) ?? (placed ? undefined : guardedBy(kernel, name));
    const known = placed ?? (guarded && (await placements.find(guarded.tool)));
    const settingsPath = known?.files[0]?.path ?? (guarded ? (await readPlace(guarded, env)).path : "");
    const note = known?.note;
    if (guarded && note && note.offers.length > 0) {
      if (note.mode !== "off") await place(guarded, { ...NO_GUARD, offers: note.offers }, false);
      return { removed: note.mode !== "off", restored: false, settingsPath };
    }
    return { ...(await placements.undo(known?.name ?? guarded?.tool ?? "", settingsPath)), settingsPath };
  }

  async function readStatus(
    guarded: Guarded,
    path: string,
    format: "json" | "jsonc" | "toml" | "file",
    placement: Placement<HookNote, FileNote> | undefined,
    known?: OutsideFile,
  ): Promise<GuardStatus> {
    const { tool, label, contract } = guarded;
    const note = placement?.note;
    const status: GuardStatus = {
      tool,
      label,
      transport: contract.format === "file" ? "plugin" : "command",
      settingsPath: path,
      installed: false,
      effective: false,
      problems: [],
      url: null,
      mode: note?.mode === "observe" ? "observe" : "enforce",
      onFailure: note?.onFailure ?? null,
      installedAt: placement?.at ?? null,
      lastFiredAt: placement ? await firings.last(tool, placement.note.id) : null,
      waiting: false,
      canReportWaiting: canReport(guarded),
      net: note?.net ?? false,
      offers: [],
      canOffer: offersOf(guarded),
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
      status.installed = note?.mode !== "off";
      status.offers = [...(note?.offers ?? [])];
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
    offer: (tool, offers, options) => placements.alone(() => offerOnce(tool, offers, options?.dryRun === true)),
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
      const { mode, net = false, offers = [] } = (await placements.find(client))?.note ?? {};
      return { mode: mode === "observe" ? mode : "enforce", net, offers };
    },
    async onFailureOf(client) {
      return (await placements.find(client))?.note.onFailure;
    },
    async fired(client, hook, at) {
      const id = (await placements.find(client))?.note.id;
      return id === undefined || id !== hook ? undefined : firings.record(client, id, at);
    },
    async isOffering() {
      return [...(await placements.all()).values()].some(({ note }) => note.offers.length > 0);
    },
    async refresh() {
      if ((await placements.all()).size === 0) return false;
      await writeHookScript(toPlaces(storage).folder, kernel.access.scoped("guard"));
      return true;
    },
  };
}
