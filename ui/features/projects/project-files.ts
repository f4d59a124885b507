/** The files that a project's sessions touched, each once and as named from the project's folder. */
import type { Analytics } from "../../wire.ts";

export type TouchedFile = Analytics["files"][number];

/** A file may be named from the project's folder by one assistant and in full by another: both are one row. */
export function toProjectFiles(files: readonly TouchedFile[], root: string | null): TouchedFile[] {
  const found = new Map<string, TouchedFile>();
  const prefix = root === null ? undefined : `${root}/`;
  for (const file of files) {
    const path = prefix && file.path.startsWith(prefix) ? file.path.slice(prefix.length) : file.path;
    const known = found.get(path);
    found.set(path, {
      path,
      reads: file.reads + (known?.reads ?? 0),
      edits: file.edits + (known?.edits ?? 0),
      sessions: file.sessions + (known?.sessions ?? 0),
      lastAt: (known?.lastAt ?? "") > (file.lastAt ?? "") ? (known?.lastAt ?? null) : file.lastAt,
    });
  }
  return [...found.values()];
}

/** Where the lines of a file are shown with the sessions that wrote them. Undefined for one outside a repository. */
export const toCode = (path: string, hasCode: boolean) =>
  hasCode && !/^([/\\~]|[A-Za-z]:)/.test(path) ? { query: { tab: "code", file: path } } : undefined;

/** The sessions that read or changed a file. */
export const toSessionsOf = (path: string) => ({ path: "/sessions", query: { q: `path:"${path}"` } });
