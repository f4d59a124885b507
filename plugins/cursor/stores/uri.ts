/** Folders as Cursor writes them: URIs, and the identifiers of workspaces. */
import { dirname } from "node:path";
import { isRecord, toText } from "sessarc";

/** Path of a `file:` URI, decoded; undefined for folders on other machines (`vscode-remote:` …). A plain path is kept. */
export function pathOfUri(value: unknown): string | undefined {
  const uri = toText(value);
  if (!uri) return undefined;
  if (uri.startsWith("/") || /^[A-Za-z]:[\\/]/.test(uri)) return uri;
  if (!uri.startsWith("file://")) return undefined;
  const rest = uri.slice("file://".length);
  const slash = rest.indexOf("/");
  if (slash < 0) return undefined;
  const host = rest.slice(0, slash);
  const path = decode(rest.slice(slash).replace(/[?#].*$/s, ""));
  if (path === undefined) return undefined;
  if (host !== "" && host !== "localhost") return `//${host}${path}`;
  return /^\/[A-Za-z]:/.test(path) ? path.slice(1) : path;
}

/** The folder in a `workspaceIdentifier`: a folder's URI, or the folder a multi-root workspace file lies in. */
export function folderOfIdentifier(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const folder = folderOfResource(value.uri);
  if (folder) return folder;
  const config = folderOfResource(value.configPath);
  return config && dirname(config);
}

/** The folder of a resource, which is a URI or its parts. */
export function folderOfResource(value: unknown): string | undefined {
  if (!isRecord(value)) return pathOfUri(value);
  if (toText(value.scheme) && value.scheme !== "file") return undefined;
  return toText(value.fsPath) ?? pathOfUri(value.external) ?? pathOfUri(value.path);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // a stray %: no path that could be named
  }
}
