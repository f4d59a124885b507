/** Routes of undelete. */
import { defineRoute } from "sessarc";
import * as v from "valibot";
import type { Receipt } from "./back/receipts.ts";
import { countDestroyed, type DestroyedFiles } from "./history/destroyed.ts";
import type { LostFile } from "./history/lost.ts";
import type { NetCatch } from "./net/store.ts";
import type { FileAtVersion, FileHistory, PutBack } from "./service.ts";

const path = v.pipe(v.string(), v.minLength(1), v.maxLength(4096));
/** A time, a session, `session#message`, or a commit. */
const at = v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(500)));
const MOST = 1_000;

export const routes = [
  defineRoute({
    method: "GET",
    path: "/files/history",
    summary:
      "Versions of a file, or of the files below a folder, that sessions read, wrote or edited, with commits and stored copies; newest first",
    query: v.object({
      /** Absolute; the file need not exist any more. */
      path,
      /** Default 1,000. */
      limit: v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,3}$/, "must be 1 to 9999"), v.transform(Number))),
    }),
    handler: ({ kernel, query }): Promise<FileHistory> =>
      kernel.inject("undelete").history(query.path, query.limit ?? MOST),
  }),
  defineRoute({
    method: "GET",
    path: "/files/at",
    summary: "A file as it was at a time, a message or a commit, with a line in place of each part that is not known",
    query: v.object({
      path,
      /** Default: the newest version in which the file was there. */
      at,
    }),
    handler: ({ kernel, query }): Promise<FileAtVersion> => kernel.inject("undelete").at(query.path, query.at),
  }),
  defineRoute({
    method: "GET",
    path: "/sessions/:id/lost-files",
    summary:
      "Files that the session deleted or overwrote, and whose content is neither on the disk nor in the repository",
    handler: ({ kernel, params }): Promise<LostFile[]> => kernel.inject("undelete").lost(params.id),
  }),
  defineRoute({
    method: "GET",
    path: "/files/destroyed",
    summary: "How many files the sessions since a time destroyed, of the 20 newest sessions",
    query: v.object({
      since: v.pipe(
        v.string(),
        v.check((text) => !Number.isNaN(Date.parse(text)), "must be a time in ISO 8601"),
      ),
    }),
    handler: async ({ kernel, query }): Promise<DestroyedFiles> =>
      countDestroyed(await kernel.inject("undelete").destroyed({ since: Date.parse(query.since) })),
  }),
  defineRoute({
    method: "POST",
    path: "/files/put-back",
    summary: "Writes versions of files into a new folder, or to their own places where nothing is; answers a receipt",
    body: v.pipe(
      v.strictObject({
        /** A file or a folder, absolute. */
        path: v.optional(path),
        /** Instead of a path: the files that this session destroyed. */
        session: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(500))),
        /** Instead of a path: the files that were stored before this call. */
        net: v.optional(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
        at,
        /** Absolute; a folder that is not there or is empty. Without it the files go to their own places. */
        to: v.optional(path),
        /** In place: a file that is there is copied first and then replaced. */
        force: v.optional(v.boolean()),
      }),
      v.check(
        ({ path, session, net }) => [path, session, net].filter((one) => one !== undefined).length === 1,
        "takes one of path, session and net",
      ),
    ),
    handler: ({ kernel, body }): Promise<PutBack> => kernel.inject("undelete").putBack(body),
  }),
  defineRoute({
    method: "GET",
    path: "/files/net",
    summary: "What was stored before calls destroyed it (`guard install --net`), newest first",
    handler: ({ kernel }): Promise<NetCatch[]> => kernel.inject("undelete").net(),
  }),
  defineRoute({
    method: "GET",
    path: "/files/receipts",
    summary: "What was put back, newest first",
    handler: ({ kernel }): Promise<Receipt[]> => kernel.inject("undelete").receipts(),
  }),
  defineRoute({
    method: "POST",
    path: "/files/undo",
    summary: "Takes back what a receipt wrote; a file that changed since is left alone",
    body: v.strictObject({ id: v.pipe(v.string(), v.minLength(1), v.maxLength(64)) }),
    handler: ({ kernel, body }): Promise<{ id: string; restored: string[]; removed: string[]; kept: string[] }> =>
      kernel.inject("undelete").undo(body.id),
  }),
] as const;
