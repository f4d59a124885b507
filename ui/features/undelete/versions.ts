/** Versions of files in words and addresses. */
import type { Answer } from "../../client.ts";
import { oneLine } from "../../format.ts";
import { undeleteText } from "./words/index.ts";

export type Version = Answer<"GET /files/history">["versions"][number];

/** The page with the versions of a file; `at`: what `GET /files/at` takes. */
export const linkToVersions = (path: string, at?: string) => ({
  path: "/files",
  query: { path, ...(at !== undefined && { at }) },
});

export const isFullPath = (path: string): boolean => /^(?:\/[^/]|[A-Za-z]:[\\/]|\\\\)/.test(path);

/** Absolute: a name of a log may be relative to the folder of its project. */
export function toFullPath(path: string, folder: string | null | undefined): string | undefined {
  if (isFullPath(path)) return path;
  return folder ? `${folder.replace(/[/\\]$/, "")}/${path.replace(/^\.\//, "")}` : undefined;
}

/** The session or the commit that has the version, in words. */
export const whoseText = ({ title, sessionId, commit }: Pick<Version, "title" | "sessionId" | "commit">): string =>
  oneLine([commit?.slice(0, 8), title ?? sessionId].filter(Boolean).join(" "));

/** How much of the file the version has. */
export function stateText({ state, isAssumed }: Pick<Version, "state" | "isAssumed">): string {
  if (state === "gone") return "";
  const line = /^exact to line (\d+)$/.exec(state)?.[1];
  const words =
    line !== undefined
      ? undeleteText("state.line", { n: Number(line) })
      : undeleteText(state === "exact" ? "state.exact" : "state.partial");
  return isAssumed ? `${words}, ${undeleteText("state.assumed")}` : words;
}

/** Numbers of the lines of a version's text: "unknown" for a line in place of a hole, null where the place is not known. */
export function numberLines(text: string, holes: Version["holes"]): (number | "unknown" | null)[] {
  let next: number | null = 1;
  let hole = 0;
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      const range = /^\[sessarc: .*\]$/.test(line) ? holes[hole] : undefined;
      if (range) {
        hole++;
        next = range.to === null ? null : range.to + 1;
        return "unknown";
      }
      return next === null ? null : next++;
    });
}

/** A folder that is not there yet, beside the folder of the path. */
export function suggestFolder(path: string, now = new Date()): string {
  const folder = path.slice(0, Math.max(0, path.search(/[/\\][^/\\]*$/)));
  const stamp = now.toISOString().slice(0, 19).replace(/\D/g, "");
  return `${folder}-put-back-${stamp}`;
}
