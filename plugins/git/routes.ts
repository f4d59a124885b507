/** GET /git/at, /git/tree and /git/file. */
import { defineRoute, type Kernel, rawParam, SessarcError } from "sessarc";
import * as v from "valibot";
import type { CommitAt, TreeAt } from "./git.ts";
import type { FileAt } from "./history/file.ts";

const project = v.pipe(v.string(), v.minLength(1), v.maxLength(200));
const session = v.pipe(v.string(), v.minLength(1), v.maxLength(500));
const seq = v.pipe(v.string(), v.regex(/^\d{1,9}$/, "is no message number"), v.transform(Number));
/** Nothing else: a name could be an option or a range. */
const commit = v.pipe(v.string(), v.regex(/^[0-9a-fA-F]{7,64}$/, "7 to 64 hex digits"));
const time = v.pipe(
  v.string(),
  v.regex(/^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/, "An ISO 8601 time"),
  v.check((text) => Number.isFinite(Date.parse(text)), "No such time"),
);

const commitAt = defineRoute({
  method: "GET",
  path: "/git/at",
  meta: { team: "repositories" },
  summary: "Nearest commit at or before a time, or at a message of a session",
  query: v.object({ project, ts: time, session: v.optional(session), seq: v.optional(seq) }),
  handler: async ({ kernel, query }): Promise<CommitAt> => {
    const git = kernel.inject("git");
    const row = query.session === undefined ? undefined : await kernel.inject("archive").get(query.session);
    const witness = row && git.witness(row, query.seq ?? "end");
    return inRepository(kernel, query.project, (path) => git.commitAt(path, query.ts, witness));
  },
});

const treeAt = defineRoute({
  method: "GET",
  path: "/git/tree",
  meta: { team: "repositories" },
  summary: "Files of a commit, and what it changed",
  query: v.object({
    project,
    commit,
    /** With `0`: only what the commit changed. */
    files: v.optional(v.picklist(["0", "1"])),
  }),
  handler: async ({ kernel, query }): Promise<TreeAt> =>
    inRepository(kernel, query.project, (path) =>
      kernel.inject("git").treeAt(path, query.commit, { files: query.files !== "0" }),
    ),
});

const fileAt = defineRoute({
  method: "GET",
  path: "/git/file",
  meta: { team: "repositories" },
  summary: "A file at a commit, and its previous version",
  query: v.object({ project, commit, path: v.pipe(v.string(), v.minLength(1), v.maxLength(4096)) }),
  handler: async ({ kernel, query, event }): Promise<FileAt> => {
    const file = rawParam(event.url.search, "path") ?? query.path;
    return inRepository(kernel, query.project, (path) => kernel.inject("git").fileAt(path, query.commit, file));
  },
});

export const routes = [commitAt, treeAt, fileAt] as const;

/** The project's folder; an error about the repository names the project, never the folder. */
async function inRepository<T>(kernel: Kernel, id: string, task: (path: string) => Promise<T>): Promise<T> {
  const path = await kernel.inject("archive").projectPath(id);
  if (path === null) throw new SessarcError("NO_REPOSITORY", { project: id });
  try {
    return await task(path);
  } catch (error) {
    if (error instanceof SessarcError && error.code === "NO_REPOSITORY") {
      throw new SessarcError("NO_REPOSITORY", { project: id }, { cause: error });
    }
    throw error;
  }
}
