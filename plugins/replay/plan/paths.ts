/** Paths of a log, as text alone: they may come from another machine, and nothing of this one is touched to read them. */
import { posix, win32 } from "node:path";

/** `drive:\` or `\\server`: a log of Windows. */
const isWindows = (path: string) => /^(?:[A-Za-z]:[\\/]|\\\\)/.test(path);

/**
 * `path` relative to `root`, `/`-separated, `""` for the root itself. Undefined when it lies outside, or where that is unknown (an
 * absolute path in a session without a folder). `base` is the folder that relative paths start from.
 */
export function insideRoot(path: string, root: string | null, base: string | null = root): string | undefined {
  const windows = isWindows(root ?? path);
  const lib = windows ? win32 : posix;
  const clean = path.replace(/^file:\/\//, "");
  if (root === null) return lib.isAbsolute(clean) ? undefined : withinText(lib.normalize(clean), windows);
  return withinText(lib.relative(root, lib.resolve(base ?? root, clean)), windows);
}

/** The part of `cwd` that is the repository's folder, when `below` are the folders between the two. */
export function toRoot(cwd: string, below: string): string {
  const lib = isWindows(cwd) ? win32 : posix;
  const up = below
    .split(/[\\/]/)
    .filter((part) => part !== "")
    .map(() => "..");
  return lib.resolve(cwd, ...up);
}

function withinText(relative: string, windows: boolean): string | undefined {
  const text = windows ? relative.replaceAll("\\", "/") : relative;
  if (text === ".." || text.startsWith("../") || text.startsWith("/") || isWindows(text)) return undefined;
  return text === "." ? "" : text.replace(/^\.\//, "").replace(/\/+$/, "");
}

/** Why a path inside the project is not written to; undefined when it may be. */
export function refused(path: string): string | undefined {
  if (path === "") return "it is the project's folder itself";
  if (path.includes("\0")) return "it holds a NUL";
  for (const part of path.split("/")) {
    // Names that file systems without case, or Windows' short names, take for `.git`.
    if (/^(?:\.git|git~\d+)[. ]*$/i.test(part.replace(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, "")))
      return "it lies inside .git";
    if (part === "" || part === "." || part === "..") return "it is not a plain path";
  }
  return undefined;
}
