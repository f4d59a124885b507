/** What a takeover did to a file, taken back in the file as it is now. */

import { isRecord, type Json, SessarcError } from "sessarc";
import { type OutsideFile, outsideText, settingAt } from "sessarc/files";
import { HUB_NAME } from "./link.ts";
import type { RunFile } from "./runs.ts";
import type { ConfigEdit, Texts } from "./texts.ts";

const BOM = Buffer.from([0xef, 0xbb, 0xbf]);
export const toBytes = (text: string, bom: boolean) => Buffer.concat([...(bom ? [BOM] : []), Buffer.from(text)]);

/** Its entries are there again, the one that leads to the hub is not; the rest stays as it is. Throws SETTINGS_UNUSABLE. */
export async function merged(texts: Texts, entry: RunFile, file: OutsideFile, original: Buffer): Promise<Buffer> {
  const now = outsideText(file);
  const was = outsideText({ ...file, bytes: original }).text;
  const before = was.trim() === "" ? {} : await texts.parse(was, entry.syntax, entry.file);
  const config = await texts.parse(now.text, entry.syntax, entry.file);
  const edits = entry.edits.flatMap(({ kind, path, key = "" }): ConfigEdit[] => {
    const at = kind === "remove" ? path : [...path, key];
    const [value, is] = [settingAt(before, at), settingAt(config, at)];
    if (value === undefined) return is === undefined ? [] : [{ kind: "remove", path: at }];
    if (kind === "remove" && is !== undefined) return [];
    const [holder, name] = [at.slice(0, -1), at.at(-1) ?? ""];
    if (!isRecord(settingAt(config, holder)))
      throw new SessarcError("SETTINGS_UNUSABLE", {
        path: entry.file,
        reason: `"${holder.join(".")}" is not there any more`,
      });
    return [{ kind: "set", path: holder, key: name, value: value as Json }];
  });
  return toBytes(await texts.edit(now.text, entry.syntax, edits, entry.file), now.bom);
}

/** Whether a file has the entry that a takeover put in. */
export async function hasLink(texts: Texts, entry: RunFile, file: OutsideFile): Promise<boolean> {
  const config = await texts.parse(outsideText(file).text, entry.syntax, entry.file);
  return entry.edits.some(({ path, key }) => key === HUB_NAME && settingAt(config, [...path, key]) !== undefined);
}
