/** Folders that logs name by an address. */

/** A path as it is; the path of a `file:` URI; undefined for other addresses and for what is not a text. */
export function uriToPath(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return undefined;
  // One letter before the colon is a drive.
  if (!/^[a-z][a-z\d+.-]+:/i.test(value)) return value;
  const [, host = "", encoded] = /^file:\/\/([^/]*)(\/[^?#]*)/.exec(value) ?? [];
  if (encoded === undefined) return undefined;
  let path = encoded;
  try {
    path = decodeURIComponent(encoded);
  } catch {
    // Written without encoding: a percent sign is part of the name.
  }
  if (host !== "" && host !== "localhost") return `\\\\${host}${path.replaceAll("/", "\\")}`;
  const drive = /^\/([A-Za-z]):(.*)$/s.exec(path);
  if (drive) return `${drive[1]?.toUpperCase()}:${(drive[2] || "/").replaceAll("/", "\\")}`;
  return path.length > 1 ? path.replace(/\/$/, "") : path;
}
