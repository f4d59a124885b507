/** Cursor: conversations of the editor (three generations), its agent transcripts and its command line. */

import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type AdapterEnv,
  createRereadTail,
  defineAdapter,
  readParsed,
  type SessionEvent,
  type SessionRef,
  type SessionSummary,
  tailParsed,
} from "sessarc/adapter";
import { guard, mcp, skills, tools } from "./capabilities.ts";
import { type CursorOptions, placesOf } from "./find/places.ts";
import { scanRoot } from "./find/scan.ts";
import { createStore } from "./find/store.ts";
import { createOpener, type Folders, folderByPaths, kindOf, type Opener, openSession, tokenOf } from "./read/open.ts";
import { createTranscriptParser } from "./read/transcript.ts";
import type { Conversation } from "./stores/types.ts";

export type { CursorOptions } from "./find/places.ts";

type Reading = AsyncGenerator<SessionEvent, SessionSummary>;

/** Rows come without waiting: after this many events others get their turn. */
const BREATH = 256;

export default defineAdapter((options: CursorOptions | undefined) => {
  const store = createStore();
  const follow = createRereadTail();
  const foldersIn =
    (env: AdapterEnv): Folders =>
    () =>
      store.folders.of(placesOf(options, env).workspaces);

  async function withFolder(
    summary: SessionSummary,
    paths: ReadonlySet<string>,
    env: AdapterEnv,
  ): Promise<SessionSummary> {
    return { ...summary, cwd: summary.cwd ?? (await folderByPaths(paths, foldersIn(env))) };
  }

  async function* readTranscript(ref: SessionRef, env: AdapterEnv): Reading {
    const parser = createTranscriptParser(conversationOf(ref));
    const summary = yield* readParsed(ref, parser);
    return withFolder(summary, parser.paths, env);
  }

  async function* readWith(opener: Opener, ref: SessionRef, env: AdapterEnv): Reading {
    const session = await openSession(ref, opener, foldersIn(env));
    const drafts = session.read();
    try {
      for (let seq = 0; ; seq++) {
        const step = await drafts.next();
        if (step.done) return step.value;
        if (seq % BREATH === BREATH - 1) await nextTurn();
        const { open: _, ...event } = step.value;
        yield { seq, ...event };
      }
    } finally {
      await drafts.return(undefined as never);
    }
  }

  async function* readOne(ref: SessionRef, env: AdapterEnv): Reading {
    if (kindOf(ref.path) === "jsonl") return yield* readTranscript(ref, env);
    const opener = createOpener();
    try {
      return yield* readWith(opener, ref, env);
    } finally {
      await opener.close();
    }
  }

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
      const { global, workspaces, projects, chats } = placesOf(options, env);
      return [...global, ...workspaces, ...projects, ...chats];
    },

    scan: (root, env) => scanRoot(root, placesOf(options, env), store),

    read: readOne,

    async *readMany(refs, env) {
      const groups = new Map<string, SessionRef[]>();
      for (const ref of refs) {
        const group = groups.get(ref.path);
        if (group) group.push(ref);
        else groups.set(ref.path, [ref]);
      }
      for (const [path, group] of groups) {
        const opener = createOpener();
        try {
          for (const ref of group)
            yield [ref, kindOf(path) === "jsonl" ? readTranscript(ref, env) : readWith(opener, ref, env)];
        } finally {
          await opener.close();
        }
      }
    },

    async tail(ref, cursor, env) {
      if (kindOf(ref.path) === "jsonl") {
        let paths: ReadonlySet<string> = new Set();
        const tail = await tailParsed(ref, cursor, (state) => {
          const parser = createTranscriptParser(conversationOf(ref), state);
          paths = parser.paths;
          return parser;
        });
        return { ...tail, summary: await withFolder(tail.summary, paths, env) };
      }
      const source = {
        id: `${ref.path}\n${ref.key}`,
        token: () => tokenOf(ref),
        async open() {
          const opener = createOpener();
          try {
            const session = await openSession(ref, opener, foldersIn(env));
            return { ...session, close: () => opener.close() };
          } catch (error) {
            await opener.close();
            throw error;
          }
        },
      };
      return follow(source, cursor);
    },
  };
});

const conversationOf = (ref: SessionRef): Conversation => ({
  key: ref.key,
  title: ref.title,
  cwd: ref.cwd,
  parent: ref.parent,
  updatedAt: ref.mtime,
});
