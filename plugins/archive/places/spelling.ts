/** Paths of Windows folders, which logs spell in several ways: one key for each folder, on every system. */

/** A drive, or a folder of the network; `\\?\` and `\\.\` precede either. */
const WINDOWS = /^(?:[A-Za-z]:[\\/]|[\\/]{2}[^\\/])/;

/** A drive of Windows as WSL mounts it. */
const MOUNTED = /^\/mnt\/([a-z])($|\/.*$)/s;

export const isWindowsPath = (path: string): boolean => WINDOWS.test(withoutPrefix(path));

/** Equal for all spellings of one folder: drive letter, slashes, case, a slash at the end, both names of WSL's file system, and `/mnt/c` of WSL. Other paths are unchanged. */
export function spellingKey(named: string): string {
  const path = named.replace(MOUNTED, (_, drive, rest) => `${drive}:${rest || "/"}`);
  if (!isWindowsPath(path)) return named;
  const plain = withoutPrefix(path)
    .replaceAll("/", "\\")
    .replace(/(?!^)\\{2,}/g, "\\")
    .toLowerCase();
  const key = plain.replace(/^\\\\wsl\$(?=\\|$)/, "\\\\wsl.localhost");
  return /^[a-z]:\\$/.test(key) ? key : key.replace(/\\+$/, "");
}

/** `\\?\C:\x` is `C:\x`, `\\?\UNC\server\share` is `\\server\share`. */
function withoutPrefix(path: string): string {
  const [, rest] = /^[\\/]{2}[?.][\\/](.*)$/s.exec(path) ?? [];
  if (rest === undefined) return path;
  return rest.replace(/^UNC[\\/]/i, "\\\\");
}
