/** One conversation, opened: its change token and its events, whichever store holds it. */

import { lstat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { SessarcError, type SessionRef, type SessionSummary } from "sessarc";
import { type NewEvent, openSqliteFile, type SqliteFile, sqliteVersion } from "sessarc/adapter";
import { folderOfMd5, folderOfPaths } from "../find/folders.ts";
import { globalBeside } from "../find/places.ts";
import { isFile } from "../find/store.ts";
import { findChat } from "../stores/chat.ts";
import { composerVersion, findComposer, toBubbles } from "../stores/global.ts";
import { findEntry, findTab } from "../stores/workspace.ts";
import { chatDrafts } from "./chat.ts";
import { composerDrafts } from "./composer.ts";
import type { Builder } from "./conversation.ts";
import { tabDrafts } from "./tab.ts";
import { textDrafts } from "./transcript.ts";

type RefKind = "global" | "workspace" | "chat" | "jsonl" | "txt";

export function kindOf(path: string): RefKind {
  if (path.endsWith(".jsonl")) return "jsonl";
  if (path.endsWith(".txt")) return "txt";
  if (basename(path) === "store.db") return "chat";
  return basename(dirname(path)) === "globalStorage" ? "global" : "workspace";
}

/** Folders by workspace id, fetched when a conversation does not name its own. */
export type Folders = () => Promise<ReadonlyMap<string, string>>;

/** Databases opened once and closed together. */
interface Opener {
  open(path: string): Promise<SqliteFile>;
  close(): Promise<void>;
}

export function createOpener(): Opener {
  const opened = new Map<string, Promise<SqliteFile>>();
  return {
    open(path) {
      const known = opened.get(path);
      if (known) return known;
      const opening = openSqliteFile(path);
      opened.set(path, opening);
      return opening;
    },
    async close() {
      for (const result of await Promise.allSettled(opened.values()))
        if (result.status === "fulfilled") result.value.close();
      opened.clear();
    },
  };
}

/** Cheap token of everything a conversation is made from. */
export async function readToken(ref: SessionRef): Promise<string> {
  const kind = kindOf(ref.path);
  if (kind === "txt") {
    const { size, mtimeMs, ino } = await lstat(ref.path);
    return `${size}-${mtimeMs}-${ino}`;
  }
  const token = await sqliteVersion(ref.path);
  const beside = globalBeside(ref.path);
  return kind === "workspace" && (await isFile(beside)) ? `${token}+${await sqliteVersion(beside)}` : token;
}

/** One conversation of an opened store. */
interface Opened {
  version: string;
  read(): AsyncGenerator<NewEvent, SessionSummary>;
}

/** Throws SOURCE_MISSING when the conversation is no longer there. */
export async function openSession(
  ref: SessionRef,
  opener: Opener,
  folders: Folders,
  onBytes: (count: number) => void,
): Promise<Opened> {
  const kind = kindOf(ref.path);
  const session = (version: string, read: Opened["read"]): Opened => ({ version, read });

  if (kind === "txt") {
    const own = { key: ref.key, title: ref.title, cwd: ref.cwd, parent: ref.parent, updatedAt: ref.mtime };
    return session(await readToken(ref), () => textDrafts(ref.path, own));
  }
  const db = await opener.open(ref.path);
  if (kind === "chat") {
    const chat = findChat(db, ref.key) ?? missing(ref);
    const bucket = basename(dirname(dirname(ref.path)));
    const known = async () => ref.cwd ?? folderOfMd5(bucket, (await folders()).values());
    const own = { ...chat, updatedAt: ref.mtime };
    return session(chat.version, () => settle(() => chatDrafts(db, own, onBytes), ref, folders, known));
  }
  if (kind === "global") {
    const { composer, data, bubbles } = findComposer(db, ref.key) ?? missing(ref);
    const known = async () => ref.cwd ?? (composer.workspace ? (await folders()).get(composer.workspace) : undefined);
    return session(composerVersion(composer, bubbles), () =>
      settle(() => composerDrafts(data, composer, db, onBytes), ref, folders, known),
    );
  }
  const known = async () => ref.cwd ?? (await folders()).get(basename(dirname(ref.path)));
  const tab = findTab(db, ref.key);
  if (tab) return session(tab.version, () => settle(() => tabDrafts(tab.tab, ref.key, ref.cwd), ref, folders, known));
  const { composer, data } = findEntry(db, ref.key) ?? missing(ref);
  const beside = globalBeside(ref.path);
  const global = (await isFile(beside)) ? await opener.open(beside) : undefined;
  const version = composerVersion(composer, global && toBubbles(global, ref.key));
  return session(version, () => settle(() => composerDrafts(data, composer, global, onBytes), ref, folders, known));
}

type Finished = { summary: SessionSummary; builder: Builder; workspace?: string | undefined };

/** Finds the project at the end, when the conversation did not say it: where it was listed, its own text, its tools' paths. */
async function* settle(
  drafts: () => Generator<NewEvent, Finished>,
  ref: SessionRef,
  folders: Folders,
  known: () => Promise<string | undefined>,
): AsyncGenerator<NewEvent, SessionSummary> {
  const { summary, builder, workspace } = yield* drafts();
  const cwd = summary.cwd ?? (await known()) ?? workspace ?? (await folderByPaths(builder.paths, folders));
  return { ...summary, title: summary.title ?? ref.title, parent: summary.parent ?? ref.parent, cwd };
}

async function folderByPaths(paths: ReadonlySet<string>, folders: Folders): Promise<string | undefined> {
  return paths.size > 0 ? folderOfPaths(paths, (await folders()).values()) : undefined;
}

function missing(ref: SessionRef): never {
  throw new SessarcError("SOURCE_MISSING", { id: `cursor:${ref.key}` });
}
