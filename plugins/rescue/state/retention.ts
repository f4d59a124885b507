/** Changes how long an assistant retains its logs: a backup of its settings file, the smallest edit, nothing else. */

import { type Kernel, SessarcError, toMessage } from "sessarc";
import type { Adapter } from "sessarc/adapter";
import {
  editSettings,
  makeFolderFor,
  outsideText,
  parseSettings,
  readOutside,
  replaceOutside,
  type SettingsEdit,
  settingAt,
} from "sessarc/files";

export interface RetentionChange {
  tool: string;
  path: string;
  /** The setting, as `general › sessionRetention › maxAge`. */
  name: string;
  /** As JSON; null: it is not set. */
  before: string | null;
  after: string;
  written: boolean;
}

/** Throws RETENTION_FIXED, SETTINGS_UNUSABLE and SETTINGS_CHANGED. */
export async function changeRetention(
  kernel: Kernel,
  { name: tool, label, rescue }: Adapter,
  days: number,
  write: boolean,
): Promise<RetentionChange> {
  const setting = rescue?.retention?.(days, kernel.env);
  if (!setting) throw new SessarcError("RETENTION_FIXED", { tool: label, reason: "sessarc knows no setting of it" });
  const { path, keys, key, value } = setting;
  const file = await readOutside(path);
  const { text } = outsideText(file);
  const edited = await edit(path, text, keys, key, value);
  const change: RetentionChange = {
    tool,
    path,
    name: [...keys, key].join(" › "),
    before: edited.before === undefined ? null : JSON.stringify(edited.before),
    after: JSON.stringify(value),
    written: write,
  };
  if (!write) return change;
  if (file.bytes) {
    const at = new Date().toISOString().replaceAll(/[:.]/g, "-");
    await kernel.storage.files.setItemRaw(`rescue:settings:${tool}-${at}.json`, file.bytes);
  }
  await makeFolderFor(path);
  await replaceOutside(file, Buffer.from(edited.text));
  return change;
}

async function edit(path: string, text: string, keys: readonly string[], key: string, value: string | number) {
  try {
    const settings = await parseSettings(text, "json");
    const before = settingAt(settings, [...keys, key]);
    const edits: SettingsEdit[] = keys.flatMap((name, depth): SettingsEdit[] =>
      settingAt(settings, keys.slice(0, depth + 1)) === undefined
        ? [{ kind: "set", path: keys.slice(0, depth), key: name, value: {} }]
        : [],
    );
    edits.push({ kind: "set", path: keys, key, value });
    return { before, text: await editSettings(text.trim() === "" ? "{}\n" : text, "json", edits) };
  } catch (cause) {
    throw new SessarcError("SETTINGS_UNUSABLE", { path, reason: toMessage(cause) }, { cause });
  }
}
