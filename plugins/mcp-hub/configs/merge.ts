/** What a takeover did to a file, taken back in the file as it is now. */

import { isRecord, type Json, SessarcError } from "sessarc";
import { type OutsideFile, outsideBytes, outsideText, settingAt } from "sessarc/files";
import { HUB_NAME } from "./link.ts";
import type { TakenFile } from "./taken.ts";
import type { ConfigEdit, Texts } from "./texts.ts";

/** Its entries are there again, the one that leads to the hub is not; the rest stays as it is. Throws SETTINGS_UNUSABLE. */
export async function merged(
  texts: Texts,
  { path: where, note }: Pick<TakenFile, "path" | "note">,
  file: OutsideFile,
  original: Buffer,
): Promise<Buffer> {
  const now = outsideText(file);
  const was = outsideText({ ...file, bytes: original }).text;
  const before = was.trim() === "" ? {} : await texts.parse(was, note.syntax, where);
  const config = await texts.parse(now.text, note.syntax, where);
  const edits = note.edits.flatMap((edit): ConfigEdit[] => {
    const { kind, path } = edit;
    const at = edit.kind === "remove" ? path : [...path, edit.key];
    const [value, is] = [settingAt(before, at), settingAt(config, at)];
    if (value === undefined) return is === undefined ? [] : [{ kind: "remove", path: at }];
    if (kind === "remove" && is !== undefined) return [];
    const [holder, name] = [at.slice(0, -1), at.at(-1) ?? ""];
    if (!isRecord(settingAt(config, holder)))
      throw new SessarcError("SETTINGS_UNUSABLE", {
        path: where,
        reason: `"${holder.join(".")}" is not there any more`,
      });
    return [{ kind: "set", path: holder, key: name, value: value as Json }];
  });
  return outsideBytes(await texts.edit(now.text, note.syntax, edits, where), now.bom);
}

/** Whether a file has the entry that a takeover put in. */
export async function hasLink(
  texts: Texts,
  { path: where, note }: Pick<TakenFile, "path" | "note">,
  file: OutsideFile,
): Promise<boolean> {
  const config = await texts.parse(outsideText(file).text, note.syntax, where);
  return note.edits.some(
    (edit) => edit.kind === "set" && edit.key === HUB_NAME && settingAt(config, [...edit.path, HUB_NAME]) !== undefined,
  );
}
