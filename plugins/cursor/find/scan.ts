/** Which conversations each root holds. One that is in several places is listed once: databases before transcripts. */

import { join } from "node:path";
import type { SessionRef } from "sessarc";
import { lastWritten } from "sessarc/adapter";
import { composerVersion, type GlobalIndex, hasContent } from "../stores/global.ts";
import { folderOfMd5, folderOfSlug, namesIn } from "./folders.ts";
import type { Places } from "./places.ts";
import { chatsIn, type Store, transcriptsIn } from "./store.ts";

/** Yields what `root` holds. When a part of it cannot be read, the rest is yielded first and then its error is thrown. */
export async function* scanRoot(root: string, places: Places, store: Store): AsyncGenerator<SessionRef> {
  if (places.global.includes(root)) yield* scanGlobal(root, places, store);
  else if (places.workspaces.includes(root)) yield* scanWorkspaces(root, places, store);
  else if (places.chats.includes(root)) yield* scanChats(root, places, store);
  else if (places.projects.includes(root)) yield* scanTranscripts(root, places, store);
}

async function* scanGlobal(root: string, places: Places, store: Store): AsyncGenerator<SessionRef> {
  const index = await store.global(root);
  if (!index) return;
  const written = await lastWritten(root);
  const held = await readIds(places.global.slice(0, places.global.indexOf(root)), store);
  const folders = await store.folders.of(places.workspaces);
  let members: Map<string, string> | undefined;
  for (const composer of index.composers.values()) {
    if (!hasContent(index, composer.key) || held.has(composer.key)) continue;
    const header = index.headers.get(composer.key);
    let cwd = composer.cwd ?? header?.cwd ?? folders.get(composer.workspace ?? header?.workspace ?? "");
    if (cwd === undefined) {
      members ??= await readMembers(places, store, folders);
      cwd = members.get(composer.key);
    }
    yield {
      tool: "cursor",
      key: composer.key,
      path: root,
      title: composer.title ?? header?.title,
      cwd,
      parent: composer.parent ?? header?.parent,
      mtime: atMost(written, composer.updatedAt ?? composer.createdAt),
      version: composerVersion(composer, index.bubbles.get(composer.key)),
      exclusive: false,
    };
  }
}

async function* scanWorkspaces(root: string, places: Places, store: Store): AsyncGenerator<SessionRef> {
  const folders = await store.folders.of([root]);
  const held = await readIds(places.global, store);
  const failures: unknown[] = [];
  for (const id of await namesIn(root)) {
    const path = join(root, id, "state.vscdb");
    const index = await store.workspace(path).catch((error: unknown) => {
      failures.push(error);
      return undefined;
    });
    if (!index) continue;
    const written = await lastWritten(path);
    const cwd = folders.get(id);
    for (const tab of index.tabs) {
      if (held.has(tab.key)) continue;
      held.add(tab.key);
      yield {
        tool: "cursor",
        key: tab.key,
        path,
        title: tab.title,
        cwd,
        mtime: atMost(written, tab.updatedAt),
        version: tab.version,
        exclusive: false,
      };
    }
    const global = index.composers.length > 0 ? await store.beside(path) : undefined;
    for (const composer of index.composers) {
      const bubbles = global?.bubbles.get(composer.key);
      const content = composer.inline || (composer.ordered > 0 && bubbles !== undefined && bubbles.count > 0);
      if (!content || held.has(composer.key)) continue;
      held.add(composer.key);
      const header = global?.headers.get(composer.key);
      yield {
        tool: "cursor",
        key: composer.key,
        path,
        title: composer.title ?? header?.title,
        cwd: composer.cwd ?? cwd,
        parent: composer.parent ?? header?.parent,
        mtime: atMost(written, composer.updatedAt ?? composer.createdAt),
        version: composerVersion(composer, bubbles),
        exclusive: false,
      };
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function* scanChats(root: string, places: Places, store: Store): AsyncGenerator<SessionRef> {
  const held = await heldByEditor(places, store);
  const folders = [...(await store.folders.of(places.workspaces)).values()];
  const failures: unknown[] = [];
  for await (const { key, path, bucket } of chatsIn(root)) {
    if (held.has(key)) continue;
    const chat = await store.chat(path).catch((error: unknown) => {
      failures.push(error);
      return undefined;
    });
    if (!chat?.root) continue;
    held.add(key);
    const cwd = chat.cwd ?? folderOfMd5(bucket, folders);
    yield {
      tool: "cursor",
      key,
      path,
      title: chat.title,
      cwd,
      mtime: chat.mtime,
      version: chat.version,
      exclusive: false,
    };
  }
  if (failures.length > 0) throw failures[0];
}

async function* scanTranscripts(root: string, places: Places, store: Store): AsyncGenerator<SessionRef> {
  const held = await heldByEditor(places, store);
  for (const chats of places.chats)
    for await (const { key, path } of chatsIn(chats)) if (await hasRoot(store, path)) held.add(key);
  const byId = await store.folders.of(places.workspaces);
  const headers: GlobalIndex["headers"][] = [];
  for (const path of places.global) headers.push((await quietly(store.global(path)))?.headers ?? new Map());
  for await (const { key, path, slug, parent, size, mtime, version } of transcriptsIn(root)) {
    if (held.has(key)) continue;
    held.add(key);
    const header = headers.find((map) => map.has(key))?.get(key);
    const cwd = header?.cwd ?? byId.get(header?.workspace ?? "") ?? folderOfSlug(slug, byId.values());
    yield {
      tool: "cursor",
      key,
      path,
      title: header?.title,
      cwd,
      parent: parent ?? header?.parent,
      size,
      mtime,
      version,
      exclusive: true,
    };
  }
}

/** Ids of the composers that databases of all windows hold with their content. */
async function readIds(databases: readonly string[], store: Store): Promise<Set<string>> {
  const ids = new Set<string>();
  for (const path of databases) {
    const index = await quietly(store.global(path));
    for (const id of index?.composers.keys() ?? []) if (index && hasContent(index, id)) ids.add(id);
  }
  return ids;
}

/** Ids of everything the editor's databases hold. */
async function heldByEditor(places: Places, store: Store): Promise<Set<string>> {
  const held = await readIds(places.global, store);
  for (const root of places.workspaces) {
    try {
      for await (const ref of scanWorkspaces(root, places, store)) held.add(ref.key);
    } catch {
      // Reported by the scan of that root itself.
    }
  }
  return held;
}

/** Folder by conversation, from the windows it was opened in. */
async function readMembers(
  places: Places,
  store: Store,
  folders: ReadonlyMap<string, string>,
): Promise<Map<string, string>> {
  const members = new Map<string, string>();
  for (const root of places.workspaces) {
    for (const id of await namesIn(root)) {
      const folder = folders.get(id);
      const index = folder && (await quietly(store.workspace(join(root, id, "state.vscdb"))));
      if (!folder || !index) continue;
      for (const key of index.members) if (!members.has(key)) members.set(key, folder);
    }
  }
  return members;
}

const hasRoot = async (store: Store, path: string) => (await quietly(store.chat(path)))?.root !== undefined;

/** What cannot be read is reported where it is a root of its own, and only there. */
async function quietly<T>(reading: Promise<T>): Promise<T | undefined> {
  const [result] = await Promise.allSettled([reading]);
  return result?.status === "fulfilled" ? result.value : undefined;
}

/** A conversation changed no later than its database: a later time is that of a wrong clock. */
const atMost = (written: number, time: number | undefined) =>
  time === undefined ? undefined : Math.min(time, written);
