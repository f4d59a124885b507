/** Where a rescued file may be written: inside the assistant's own folders, through no link, among files of this user. */
import { lstat } from "node:fs/promises";
import { isAbsolute, relative, resolve, sep } from "node:path";
import { SessarcError } from "sessarc";
import { codeOf, isInside } from "sessarc/files";

/**
 * Throws RESCUE_OUTSIDE unless `path` is below one of `folders` and every folder between them that exists is a real one that belongs to
 * this user. `path` itself may exist or not.
 */
export async function checkPlace(path: string, folders: readonly string[]): Promise<void> {
  const refuse = (reason: string) => new SessarcError("RESCUE_OUTSIDE", { path, reason });
  // Logs and ids come from files that others may have written.
  if (!isAbsolute(path) || resolve(path) !== path || path.includes("\0")) throw refuse("it is no plain absolute path");
  const folder = folders.find((one) => one !== path && isInside(one, path));
  if (folder === undefined) throw refuse("it is outside the folders of the assistant");
  const own = process.getuid?.();
  let at = folder;
  // The assistant's own folder may be a link of the user; its owner counts as well.
  const names = relative(folder, path).split(sep);
  for (const name of ["", ...names.slice(0, -1)]) {
    at = name === "" ? at : `${at}${at.endsWith(sep) ? "" : sep}${name}`;
    const info = await lstat(at).catch((error: unknown) => {
      if (codeOf(error) === "ENOENT") return undefined;
      throw refuse(`${at} cannot be read`);
    });
    if (!info) break;
    if (name !== "" && info.isSymbolicLink()) throw refuse(`${at} is a link`);
    if (!info.isSymbolicLink() && !info.isDirectory()) throw refuse(`${at} is no folder`);
    if (own !== undefined && info.uid !== own) throw refuse(`${at} belongs to another user`);
  }
}
