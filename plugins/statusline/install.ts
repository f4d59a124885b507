/** Puts the status line into an assistant's settings and takes it out again, byte for byte. */
import { isDeepStrictEqual } from "node:util";
import { type Json, type Kernel, SessarcError, toJson } from "sessarc";
import {
  createPlacements,
  editSettings,
  type OutsideFile,
  outsideBytes,
  outsideText,
  parseSettings,
  readOutside,
  type SettingsEdit,
  settingAt,
  usable,
} from "sessarc/files";
import * as v from "valibot";
import { commandLine } from "./command-line.ts";
import { type NamedPlace, toPlace, toPlaces } from "./places.ts";

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

export interface Installer {
  /** Throws STATUSLINE_TOOL_UNKNOWN, STATUSLINE_TAKEN, SETTINGS_UNUSABLE, SETTINGS_CHANGED; the settings are unchanged then. */
  install(tool: string | undefined, options: InstallOptions): Promise<StatuslineInstalled>;
  uninstall(tool: string | undefined): Promise<StatuslineRemoved>;
  status(): Promise<StatuslineStatus[]>;
  /** True when some assistant shows the line. */
  isInstalled(): Promise<boolean>;
}

type Syntax = NonNullable<NamedPlace["syntax"]>;

/** What taking the line out again needs, also when the adapter is gone. */
type Placed = {
  syntax: Syntax;
  path: string[];
  entry: Json;
  /** The line that ours replaced. */
  previous: { value: Json } | null;
};

const json = v.custom<Json>((value) => toJson(value) !== undefined);
const placed = v.object({
  syntax: v.picklist(["json", "jsonc", "toml"]),
  path: v.array(v.string()),
  entry: json,
  previous: v.nullable(v.object({ value: json })),
});

export function createInstaller(kernel: Kernel): Installer {
  const { storage, env } = kernel;
  const placements = createPlacements<null, Placed>({
    folder: storage.path("files", "backups", "statusline"),
    readOnly: storage.readOnly,
    note: () => null,
    fileNote: (value) => v.parse(placed, value),
    async withdraw(file, entry) {
      if (!entry) return undefined;
      const { syntax, path, entry: ours, previous } = entry.note;
      if (!isDeepStrictEqual(await entryIn(file, syntax, path), ours)) return undefined;
      const { text, bom } = toText(file, syntax);
      const edit: SettingsEdit =
        previous === null ? { kind: "remove", path } : setAt(path.slice(0, -1), path.at(-1) ?? "", previous.value);
      return outsideBytes(await usable(file.path, () => editSettings(text, syntax, [edit])), bom);
    },
  });

  async function install(
    name: string | undefined,
    { replace, template }: InstallOptions,
  ): Promise<StatuslineInstalled> {
    const place = toPlace(kernel, name);
    const { syntax, path } = toForm(place);
    const at = place.settings(env);
    const command = commandLine(place.name, storage.path(), env.platform, { template, fields: place.fields });
    const entry = place.entry?.(command) ?? { type: "command", command, padding: 0 };
    const plan = await placements.plan(place.name, at, async (before, known) => {
      const text = startOf(before, syntax);
      const settings = await usable(at, () => parseSettings(text, syntax));
      const there = toJson(settingAt(settings, path));
      const ours = known !== undefined && there !== undefined && isDeepStrictEqual(there, known.note.entry);
      if (there !== undefined && !ours && replace !== true) throw new SessarcError("STATUSLINE_TAKEN", { path: at });
      const previous = ours ? known.note.previous : there === undefined ? null : { value: there };
      const edit = putAt(settings, path, entry);
      return {
        text: await usable(at, () => editSettings(text, syntax, [edit])),
        ours,
        note: { syntax, path, entry, previous },
      };
    });
    const placement = await placements.write(plan, null);
    return { ...(await readStatus(place)), command, backupPath: placements.backupPath(placement) };
  }

  async function uninstall(name: string | undefined): Promise<StatuslineRemoved> {
    // One whose adapter is gone can still be taken out.
    const known = name === undefined ? undefined : await placements.find(name);
    const place = known ? undefined : toPlace(kernel, name);
    const settingsPath = known?.files[0]?.path ?? place?.settings(env) ?? "";
    return { ...(await placements.undo(known?.name ?? place?.name ?? "", settingsPath)), settingsPath };
  }

  async function readStatus(place: NamedPlace): Promise<StatuslineStatus> {
    const { name, label } = place;
    const { syntax, path } = toForm(place);
    const settingsPath = place.settings(env);
    const base = { tool: name, label, settingsPath, installed: false, taken: false, problem: null };
    try {
      const there = await entryIn(await readOutside(settingsPath), syntax, path);
      const entry = (await placements.find(name))?.files[0];
      const installed = entry !== undefined && isDeepStrictEqual(there, entry.note.entry);
      return { ...base, installed, taken: there !== undefined && !installed };
    } catch (error) {
      if (!(error instanceof SessarcError)) throw error;
      return { ...base, problem: error.message };
    }
  }

  return {
    install: (tool, options) => placements.alone(() => install(tool, options)),
    uninstall: (tool) => placements.alone(() => uninstall(tool)),
    status: () => Promise.all(toPlaces(kernel).map(readStatus)),
    isInstalled: async () => (await placements.all()).size > 0,
  };
}

const toForm = ({ syntax = "jsonc", path = ["statusLine"] }: NamedPlace) => ({ syntax, path: [...path] });

/** Objects on the way to the entry are made where they are missing. */
function putAt(settings: unknown, path: readonly string[], entry: Json): SettingsEdit {
  const depth = path.findIndex((_, at) => settingAt(settings, path.slice(0, at + 1)) === undefined);
  const last = depth < 0 ? path.length - 1 : depth;
  const value = path.slice(last + 1).reduceRight<Json>((inner, key) => ({ [key]: inner }), entry);
  return setAt(path.slice(0, last), path[last] ?? "", value);
}

const setAt = (path: readonly string[], key: string, value: Json): SettingsEdit => ({ kind: "set", path, key, value });

const startOf = (text: string, syntax: Syntax) => (text.trim() === "" && syntax !== "toml" ? "{}\n" : text);

function toText(file: OutsideFile, syntax: Syntax) {
  const { text, bom } = outsideText(file);
  return { text: startOf(text, syntax), bom };
}

/** The status line in the settings; undefined where there is none. */
async function entryIn(file: OutsideFile, syntax: Syntax, path: readonly string[]): Promise<Json | undefined> {
  return usable(file.path, async () => toJson(settingAt(await parseSettings(toText(file, syntax).text, syntax), path)));
}
