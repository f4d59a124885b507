/** Cursor: conversations of the editor (three generations), its agent transcripts and its command line. */

import type { SessionRef } from "sessarc";
import { type AdapterEnv, defineAdapter } from "sessarc/adapter";
import { guard, mcp, skills, tools } from "./capabilities.ts";
import { folderOfPaths } from "./find/folders.ts";
import { type CursorOptions, toPlaces } from "./find/places.ts";
import { scanRoot } from "./find/scan.ts";
import { createStore } from "./find/store.ts";
import { createOpener, type Folders, kindOf, openSession, readToken } from "./read/open.ts";
import { createTranscriptParser } from "./read/transcript.ts";
import type { Conversation } from "./stores/types.ts";

export type { CursorOptions } from "./find/places.ts";

export default defineAdapter((options: CursorOptions | undefined) => {
  const store = createStore();
  const foldersIn =
    (env: AdapterEnv): Folders =>
    () =>
      store.folders.of(toPlaces(options, env).workspaces);

  return {
    name: "cursor",
    label: "Cursor",
    tools,
    // Of the command line's chats alone; those of the editor are opened there.
    resume: ({ key, path }) => (/[\\/]chats[\\/]/.test(path) ? ["cursor-agent", `--resume=${key}`] : undefined),
    skills,
    mcp,
    guard,

    roots(env) {
      const { global, workspaces, projects, chats } = toPlaces(options, env);
      return [...global, ...workspaces, ...projects, ...chats];
    },

    scan: (root, env) => scanRoot(root, toPlaces(options, env), store),

    appends: ({ path }) => kindOf(path) === "jsonl",

    async parse(ref, env) {
      const parser = createTranscriptParser(toConversation(ref));
      // A transcript that was found without its folder belongs to the one its tools worked in.
      const look = async () => (ref.cwd === undefined ? [...(await foldersIn(env)()).values()] : []);
      let known = await look();
      return {
        ...parser,
        async refresh() {
          known = await look();
        },
        finish() {
          const summary = parser.finish();
          return { ...summary, cwd: summary.cwd ?? folderOfPaths(parser.paths, known) };
        },
      };
    },

    token: readToken,

    open(_path, env) {
      const opener = createOpener();
      const session = (ref: SessionRef, onBytes: (count: number) => void = () => {}) =>
        openSession(ref, opener, foldersIn(env), onBytes);
      return {
        version: async (ref) => (await session(ref)).version,
        async *read(ref, onBytes) {
          return yield* (await session(ref, onBytes)).read();
        },
        close: () => opener.close(),
      };
    },
  };
});

const toConversation = (ref: SessionRef): Conversation => ({
  key: ref.key,
  title: ref.title,
  cwd: ref.cwd,
  parent: ref.parent,
  updatedAt: ref.mtime,
});
