/** Puts the status line into an assistant's settings and takes it out again, byte for byte. */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type Json, type Kernel, SessarcError, toJson } from "sessarc";
import {
  digestOf,
  editSettings,
  makeFolderOf,
  type OutsideFile,
  outsideText,
  parseSettings,
  readOutside,
  removeFoldersOf,
  removeOutside,
  replaceOutside,
  type SettingsEdit,
  SettingsProblem,
  settingAt,
} from "#internal";
import { commandLine } from "./command-line.ts";
import "./errors.ts";
import { reasonOf, STATUS_TOOLS, type StatusTool } from "./tools.ts";

export interface StatuslineStatus {
  tool: string;
  label: string;
  settingsPath: string;
  installed: boolean;
  /** Another status line is there. */
  taken: boolean;
  /** Why it cannot be read; null where it can. */
  problem: string | null;
}
export interface StatuslineInstalled extends StatuslineStatus {
  /** The command that the assistant runs. */
  command: string;
  /** Byte-exact copy of the previous settings; null if there were none. */
  backupPath: string | null;
}
export interface StatuslineRemoved {
  removed: boolean;
  /** The settings are byte for byte as they were before the installation. */
  restored: boolean;
  settingsPath: string;
}
interface InstallOptions {
  replace?: boolean | undefined;
  template?: string | undefined;
}

interface Row {
  tool: string;
  /** JSON of our entry. */
  entry: string;
  /** JSON of the status line that ours replaced. */
  previous: string | null;
  before_sha: string | null;
  after_sha: string;
  backup: string | null;
  made_folder: string | null;
}

export const migrations: readonly string[] = [
  `create table statusline_install (
     tool text primary key,
     entry text not null,
     previous text,
     before_sha text,
     after_sha text not null,
     backup text,
     made_folder text
   )`,
];

const KEY = "statusLine";

export interface Installer {
  /** Throws STATUSLINE_TOOL_UNKNOWN, STATUSLINE_TAKEN, SETTINGS_UNUSABLE, SETTINGS_CHANGED; the settings are unchanged then. */
  install(tool: string, options: InstallOptions): Promise<StatuslineInstalled>;
  uninstall(tool: string): Promise<StatuslineRemoved>;
  status(): Promise<StatuslineStatus[]>;
  /** True when some assistant shows the line. */
  isInstalled(): Promise<boolean>;
}

export function createInstaller(kernel: Kernel): Installer {
  const { storage, env } = kernel;
  const { db, files } = storage;
  const rowOf = (tool: string) => db.get<Row>("select * from statusline_install where tool = ?", [tool]);
  const forget = (tool: string) => db.run("delete from statusline_install where tool = ?", [tool]);

  /** One change at a time. */
  let last: Promise<unknown> = Promise.resolve();
  function alone<T>(work: () => Promise<T>): Promise<T> {
    const result = last.then(work, work);
    last = result.catch(() => {});
    return result;
  }

  async function install(name: string, { replace, template }: InstallOptions): Promise<StatuslineInstalled> {
    const tool = toolOf(name);
    const file = await readOutside(tool.settings(env));
    const row = await rowOf(name);
    const there = await entryIn(file);
    const ours = row !== undefined && there !== undefined && isDeepStrictEqual(there, JSON.parse(row.entry));
    if (there !== undefined && !ours && replace !== true)
      throw new SessarcError("STATUSLINE_TAKEN", { path: file.path });
    const command = commandLine(name, storage.path(), env.platform, template);
    const entry: Json = { type: "command", command, padding: 0 };
    const bytes = await edited(file, [{ kind: "set", path: [], key: KEY, value: entry }]);
    const untouched = ours && file.bytes !== null && digestOf(file.bytes) === row.after_sha;
    const next: Row = untouched
      ? { ...row, entry: JSON.stringify(entry), after_sha: digestOf(bytes) }
      : {
          tool: name,
          entry: JSON.stringify(entry),
          previous: ours ? row.previous : there === undefined ? null : JSON.stringify(there),
          // Only settings without our line can be restored byte for byte.
          before_sha: file.bytes === null || ours ? null : digestOf(file.bytes),
          after_sha: digestOf(bytes),
          backup: file.bytes === null ? null : await backUp(name, file.bytes),
          made_folder: file.bytes === null ? ((await makeFolderOf(file.path)) ?? "") : null,
        };
    // The row comes first: after a crash the status reports a row without an entry.
    await db.run("insert or replace into statusline_install values (?, ?, ?, ?, ?, ?, ?)", [
      next.tool,
      next.entry,
      next.previous,
      next.before_sha,
      next.after_sha,
      next.backup,
      next.made_folder,
    ]);
    if (!file.bytes?.equals(bytes)) await replaceOutside(file, bytes);
    const backupPath = next.backup === null ? null : storage.path("files", ...next.backup.split(":"));
    return { ...(await statusOf(tool)), command, backupPath };
  }

  async function uninstall(name: string): Promise<StatuslineRemoved> {
    const tool = toolOf(name);
    const file = await readOutside(tool.settings(env));
    const row = await rowOf(name);
    const answer = (removed: boolean, restored: boolean) => ({ removed, restored, settingsPath: file.path });
    if (!row) return answer(false, false);
    if (file.bytes !== null && digestOf(file.bytes) === row.after_sha && (await restore(file, row))) {
      await forget(name);
      if (row.backup !== null) await files.removeItem(row.backup);
      return answer(true, true);
    }
    const there = await entryIn(file);
    const ours = there !== undefined && isDeepStrictEqual(there, JSON.parse(row.entry));
    if (ours) {
      const edit: SettingsEdit =
        row.previous === null
          ? { kind: "remove", path: [KEY] }
          : { kind: "set", path: [], key: KEY, value: JSON.parse(row.previous) as Json };
      await replaceOutside(file, await edited(file, [edit]));
    }
    await forget(name);
    return answer(ours, false);
  }

  /** False where the settings cannot be made what they were. */
  async function restore(file: OutsideFile, row: Row): Promise<boolean> {
    if (row.made_folder !== null) {
      await removeOutside(file);
      if (row.made_folder !== "") await removeFoldersOf(file.real, row.made_folder);
      return true;
    }
    const kept = row.backup === null ? null : await files.getItemRaw<Uint8Array>(row.backup);
    if (!kept || digestOf(kept) !== row.before_sha) return false;
    await replaceOutside(file, kept);
    return true;
  }

  async function backUp(tool: string, bytes: Buffer): Promise<string> {
    const stamp = new Date().toISOString().replace(/[-:.]/g, "");
    const key = `backups:statusline-${tool}-${stamp}-${randomBytes(3).toString("hex")}`;
    await files.setItemRaw(key, bytes);
    return key;
  }

  async function statusOf(tool: StatusTool): Promise<StatuslineStatus> {
    const { label } = tool;
    const settingsPath = tool.settings(env);
    const base = { tool: tool.tool, label, settingsPath, installed: false, taken: false, problem: null };
    try {
      const there = await entryIn(await readOutside(settingsPath));
      const row = await rowOf(tool.tool);
      const installed = row !== undefined && isDeepStrictEqual(there, JSON.parse(row.entry));
      return { ...base, installed, taken: there !== undefined && !installed };
    } catch (error) {
      if (!(error instanceof SessarcError)) throw error;
      return { ...base, problem: error.message };
    }
  }

  return {
    install: (tool, options) => alone(() => install(tool, options)),
    uninstall: (tool) => alone(() => uninstall(tool)),
    status: () => Promise.all(STATUS_TOOLS.map(statusOf)),
    isInstalled: async () => (await db.get("select 1 from statusline_install limit 1")) !== undefined,
  };
}

function toolOf(name: string): StatusTool {
  const tool = STATUS_TOOLS.find((one) => one.tool === name);
  if (tool) return tool;
  const known = STATUS_TOOLS.map((one) => one.tool);
  throw new SessarcError("STATUSLINE_TOOL_UNKNOWN", { tool: name, reason: reasonOf(name), known });
}

const textOf = (file: OutsideFile) => {
  const { text, bom } = outsideText(file);
  return { text: text.trim() === "" ? "{}\n" : text, bom };
};

/** The status line in the settings; undefined where there is none. */
async function entryIn(file: OutsideFile): Promise<Json | undefined> {
  return usable(file, async () => toJson(settingAt(await parseSettings(textOf(file).text, "jsonc"), [KEY])));
}

async function edited(file: OutsideFile, edits: readonly SettingsEdit[]): Promise<Buffer> {
  const { text, bom } = textOf(file);
  const after = await usable(file, () => editSettings(text, "jsonc", edits));
  return Buffer.concat([Buffer.from(bom ? [0xef, 0xbb, 0xbf] : []), Buffer.from(after)]);
}

async function usable<T>(file: OutsideFile, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SettingsProblem)) throw error;
    throw new SessarcError("SETTINGS_UNUSABLE", { path: file.path, reason: error.message }, { cause: error });
  }
}
