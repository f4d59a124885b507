/** Adds the guard's hook to an assistant's settings and removes it. */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isSessarcError, type JsonRecord, type Kernel, SessarcError, type Statement } from "sessarc";
import {
  digestOf,
  makeFolderOf,
  type OutsideFile,
  outsideText,
  readOutside,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
} from "sessarc/files";
import type { RuleSet } from "../../secrets/rule-set.ts";
import { diffOf } from "./diff.ts";
import { type HookRequest, hookIn, isWaitingHook } from "./hook-command.ts";
import { placesOf, writeHookScript } from "./hook-script.ts";
import { HOOK_TOOLS, type HookTool, settingsPath } from "./hooks.ts";
import { createLedger, type InstallRow } from "./ledger.ts";
import { findProblems } from "./problems.ts";

interface InstallOptions {
  onFailure?: "allow" | "block" | undefined;
  mode?: "enforce" | "observe" | undefined;
  /** Installs or removes the hooks that report that the assistant waits; undefined leaves them as they are. */
  waiting?: boolean | undefined;
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
}

export interface InstallAnswer extends GuardStatus {
  /** Byte-exact copy of the previous settings; null if there were none. */
  backupPath: string | null;
  /** The change of the settings as a diff, secrets hidden. */
  diff: string;
}

export interface Installer {
  /** Throws GUARD_TOOL_UNKNOWN, SETTINGS_UNUSABLE, SETTINGS_CHANGED and leaves the settings unchanged then. */
  install(tool: string, options: InstallOptions): Promise<InstallAnswer>;
  uninstall(tool: string): Promise<{ removed: boolean; restored: boolean; settingsPath: string }>;
  /** The first six, and others that are on this machine or have the hook. */
  status(): Promise<GuardStatus[]>;
  modeOf(client: string): Promise<"enforce" | "observe">;
  /** The user's choice for calls that the guard cannot check; undefined if no hook is installed. */
  onFailureOf(client: string): Promise<"allow" | "block" | undefined>;
  /** Records that a hook asked. Returns the statement that stores it. */
  fired(client: string, hook: string | undefined, at: Date): Promise<Statement | undefined>;
  /** Updates the script and the token of installed hooks. Returns false if none is installed. */
  refresh(): Promise<boolean>;
}

const TRIES = 3;

export function createInstaller(kernel: Kernel, rules: RuleSet): Installer {
  const { storage, env } = kernel;
  const ledger = createLedger(storage.db);
  let last: Promise<unknown> = Promise.resolve();

  /** Runs one change at a time and retries it if another program changed the file meanwhile. */
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const run = async (): Promise<T> => {
      for (let left = TRIES; ; left--) {
        try {
          return await work();
        } catch (error) {
          if (left <= 1 || !isSessarcError(error) || error.code !== "SETTINGS_CHANGED") throw error;
        }
      }
    };
    const result = last.then(run, run);
    last = result.catch(() => {});
    return result;
  }

  async function find(name: string): Promise<{ tool: HookTool; path: string; row: InstallRow | undefined }> {
    const tool = HOOK_TOOLS.find((one) => one.tool === name);
    if (!tool) throw new SessarcError("GUARD_TOOL_UNKNOWN", { tool: name, known: HOOK_TOOLS.map((one) => one.tool) });
    const row = (await ledger.all()).get(name);
    if (name !== "codex") return { tool, path: row?.path ?? settingsPath(kernel, tool), row };
    const own = settingsPath(kernel, tool);
    const inToml = row ? row.format === "toml" : await keepsHooksInToml(own);
    return inToml
      ? { tool: { ...tool, format: "toml" }, path: join(dirname(own), "config.toml"), row }
      : { tool, path: own, row };
  }

  function requestFor(tool: HookTool, id: string, onFailure: "allow" | "block"): HookRequest {
    const { host, port } = kernel.address ?? kernel.config;
    const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
    return {
      tool: tool.tool,
      id,
      ...placesOf(storage),
      url: `http://${name}:${port}/api/security/pretooluse?client=${tool.tool}&hook=${id}`,
      onFailure,
      platform: env.platform,
    };
  }

  async function backUp(tool: HookTool, bytes: Buffer): Promise<string> {
    const key = `backups:guard-${tool.tool}-${new Date().toISOString().replace(/[-:.]/g, "")}-${randomBytes(3).toString("hex")}`;
    await storage.files.setItemRaw(key, bytes);
    return key;
  }
  const backupPath = (key: string | null) => (key === null ? null : storage.path("files", ...key.split(":")));

  async function installOnce(name: string, options: InstallOptions): Promise<InstallAnswer> {
    const { tool, path, row } = await find(name);
    const file = await readOutside(path);
    const { text: before, bom } = outsideText(file);
    const ours = hookIn(before);
    const onFailure = options.onFailure ?? row?.on_failure ?? "allow";
    const mode = options.mode ?? row?.mode ?? "enforce";
    const id = row?.id ?? randomBytes(6).toString("hex");
    const request = requestFor(tool, id, onFailure);
    const waiting = options.waiting ?? row?.waiting === 1;
    if (waiting && !tool.waiting)
      throw new SessarcError("GUARD_WAITING_UNKNOWN", {
        tool: name,
        known: HOOK_TOOLS.flatMap((one) => (one.waiting ? [one.tool] : [])),
      });
    const { text: after, made } = await edited(tool, before, request, path, ours !== undefined, waiting);
    const bytes = Buffer.concat([bom ? Buffer.from([0xef, 0xbb, 0xbf]) : Buffer.alloc(0), Buffer.from(after)]);
    const diff = await rules.hide(diffOf(before, after));
    if (options.dryRun) return { ...(await statusOf(tool, path, row, file)), backupPath: null, diff };

    const untouched = row !== undefined && file.bytes !== null && digestOf(file.bytes) === row.after_sha;
    const fresh = ours === undefined;
    const next: InstallRow = {
      tool: tool.tool,
      id,
      path,
      real_path: file.real,
      format: tool.format,
      created: untouched ? row.created : file.bytes === null ? 1 : 0,
      made_folder: untouched ? row.made_folder : null,
      // Only settings without the hook can be restored byte for byte.
      before_sha: untouched ? row.before_sha : fresh && file.bytes ? digestOf(file.bytes) : null,
      after_sha: digestOf(bytes),
      backup: untouched ? row.backup : file.bytes === null ? null : await backUp(tool, file.bytes),
      made: JSON.stringify(fresh ? made : [...((row ? JSON.parse(row.made) : []) as string[][]), ...made]),
      url: request.url,
      on_failure: onFailure,
      mode,
      installed_at: untouched ? row.installed_at : new Date().toISOString(),
      last_fired_at: row?.last_fired_at ?? null,
      waiting: waiting ? 1 : 0,
    };
    if (file.bytes === null) next.made_folder = (await makeFolderOf(path)) ?? null;
    // The ledger is written first: after a crash the status reports a row without an entry.
    await ledger.put(next);
    await writeHookScript(placesOf(storage).folder, kernel.access.scoped("guard"));
    if (!file.bytes?.equals(bytes)) await replaceOutside(file, bytes);
    return { ...(await statusOf(tool, path, next)), backupPath: backupPath(next.backup), diff };
  }

  async function uninstallOnce(name: string) {
    const { tool, path, row } = await find(name);
    const file = await readOutside(path);
    const answer = (removed: boolean, restored: boolean) => ({ removed, restored, settingsPath: path });
    if (file.bytes === null) {
      if (row) await ledger.remove(name);
      return answer(false, false);
    }
    if (row && digestOf(file.bytes) === row.after_sha && (row.created === 1 || row.before_sha !== null)) {
      const original = row.created === 1 ? null : await originalOf(row);
      if (row.created === 1) {
        await removeOutside(file);
        if (row.made_folder) await removeFoldersOf(file.real, row.made_folder);
      } else if (original) await replaceOutside(file, original);
      if (row.created === 1 || original) {
        await ledger.remove(name);
        if (row.backup) await storage.files.removeItem(row.backup);
        return answer(true, true);
      }
    }
    const { text, bom } = outsideText(file);
    if (!hookIn(text) && !isWaitingHook(text)) {
      if (row) await ledger.remove(name);
      return answer(false, false);
    }
    if (tool.format === "file") await removeOutside(file);
    else {
      const made = row ? (JSON.parse(row.made) as string[][]) : [];
      const { removeOurs } = await import("./edit.ts");
      const rest = await removeOurs(text, tool, made, path);
      await replaceOutside(
        file,
        Buffer.concat([bom ? Buffer.from([0xef, 0xbb, 0xbf]) : Buffer.alloc(0), Buffer.from(rest)]),
      );
    }
    await ledger.remove(name);
    return answer(true, false);
  }

  /** Returns the backup if it is unchanged. */
  async function originalOf(row: InstallRow): Promise<Buffer | undefined> {
    const value = row.backup === null ? null : await storage.files.getItemRaw<Uint8Array>(row.backup);
    if (!value) return undefined;
    const bytes = Buffer.from(value);
    return digestOf(bytes) === row.before_sha ? bytes : undefined;
  }

  async function statusOf(
    tool: HookTool,
    path: string,
    row: InstallRow | undefined,
    known?: OutsideFile,
  ): Promise<GuardStatus> {
    const status: GuardStatus = {
      tool: tool.tool,
      label: tool.label,
      transport: tool.transport,
      settingsPath: path,
      installed: false,
      effective: false,
      problems: [],
      url: null,
      mode: row?.mode ?? "enforce",
      onFailure: row?.on_failure ?? null,
      installedAt: row?.installed_at ?? null,
      lastFiredAt: row ? await ledger.lastFired(row) : null,
      waiting: false,
      canReportWaiting: tool.waiting !== undefined,
    };
    try {
      const { text } = outsideText(known ?? (await readOutside(path)));
      const hook = hookIn(text);
      if (!hook) {
        if (row) status.problems.push("The hook was installed, but its entry is missing from the settings");
        return status;
      }
      const { readHooks } = await import("./edit.ts");
      const settings: JsonRecord = tool.format === "file" ? {} : await readHooks(text, tool, path);
      status.installed = true;
      status.waiting = isWaitingHook(text);
      status.url = hook.url ?? requestFor(tool, hook.id, "allow").url;
      status.problems = await findProblems(kernel, tool, settings, path, hook);
    } catch (error) {
      if (!isSessarcError(error)) throw error;
      status.problems.push(error.message);
    }
    status.effective = status.installed && status.problems.length === 0;
    return status;
  }

  return {
    install: (tool, options) => alone(() => installOnce(tool, options)),
    uninstall: (tool) => alone(() => uninstallOnce(tool)),
    async status() {
      const all = await Promise.all(HOOK_TOOLS.map(({ tool }) => find(tool)));
      const shown = all.filter(({ tool, row }) => row !== undefined || !tool.home || existsSync(tool.home(env)));
      return Promise.all(shown.map(({ tool, path, row }) => statusOf(tool, path, row)));
    },
    async modeOf(client) {
      return (await ledger.all()).get(client)?.mode ?? "enforce";
    },
    async onFailureOf(client) {
      return (await ledger.all()).get(client)?.on_failure;
    },
    fired: (client, hook, at) => ledger.fired(client, hook, at),
    async refresh() {
      if ((await ledger.all()).size === 0) return false;
      await writeHookScript(placesOf(storage).folder, kernel.access.scoped("guard"));
      return true;
    },
  };
}

async function edited(
  tool: HookTool,
  before: string,
  request: HookRequest,
  path: string,
  ours: boolean,
  waiting: boolean,
) {
  if (tool.format !== "file" || !tool.text) {
    const { addEntries } = await import("./edit.ts");
    const reports = (waiting && tool.waiting) || [];
    const wanted = [tool, ...reports].map(({ list, entry }) => ({ list, entry: entry(request) }));
    return addEntries(before, tool, wanted, path);
  }
  if (before !== "" && !ours)
    throw new SessarcError("SETTINGS_UNUSABLE", {
      path,
      reason: "a file with this name exists that sessarc did not write",
    });
  return { text: tool.text(request, waiting), made: [] };
}

/** True where config.toml has hooks and there is no hooks.json. */
async function keepsHooksInToml(hooksJson: string): Promise<boolean> {
  const own = await readOutside(hooksJson).catch(() => undefined);
  if (!own || own.bytes !== null) return false;
  const config = await readOutside(join(dirname(hooksJson), "config.toml")).catch(() => undefined);
  return config?.bytes ? /^\s*\[+\s*hooks\b/m.test(config.bytes.toString("utf8")) : false;
}
