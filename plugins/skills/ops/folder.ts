/** A skill's folder outside of the store: its entry in the scan, and its bytes. */
import { SessarcError } from "sessarc";
import { inSlices } from "../content/slices.ts";
import type { ScanEntry } from "../types.ts";
import type { Shelf } from "./shelf.ts";

/** The entry of a path that the scan lists, under any of its names. */
export const entryAt = (entries: readonly ScanEntry[], path: string): ScanEntry | undefined =>
  entries.find((one) => one.path === path || one.aliases.some((alias) => alias.path === path));

/** The folder that a path leads to, through links. Throws SKILL_NOT_IMPORTABLE. */
export async function realFolder(shelf: Shelf, path: string): Promise<string> {
  const at = (await shelf.inspector()).resolve(path);
  if ("fault" in at) throw new SessarcError("SKILL_NOT_IMPORTABLE", { path, reason: at.fault.message });
  return at.real;
}

/** The bytes of the folder `real`, and what its SKILL.md says. `path` is its name in errors. Throws SKILL_NOT_IMPORTABLE. */
export async function readFolder(shelf: Shelf, path: string, real: string) {
  const refuse = (reason: string) => new SessarcError("SKILL_NOT_IMPORTABLE", { path, reason });
  const looked = await inSlices((await shelf.inspector()).inspect(real));
  if ("fault" in looked) throw refuse(looked.fault.message);
  const tree = await shelf.places.capture(real);
  if (!tree || tree.hash !== looked.tree.hash) throw refuse("it changed while it was read");
  return { tree, front: looked.front };
}
