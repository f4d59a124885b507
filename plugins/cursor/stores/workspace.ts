/** One window's database (`workspaceStorage/<id>/state.vscdb`): legacy tabs, old composers, and which conversations belong to it. */

import { createHash } from "node:crypto";
import { isRecord, type JsonRecord, parseRecord, toList, toText } from "sessarc";
import type { SqliteFile } from "sessarc/adapter";
import { type Composer, toComposer } from "./global.ts";
import { type Conversation, toMs } from "./types.ts";

const TABS = "workbench.panel.aichat.view.aichat.chatdata";
const COMPOSERS = "composer.composerData";
const VIEW = "workbench.panel.aichat.view.";

export interface WorkspaceIndex {
  tabs: (Conversation & { version: string })[];
  composers: Composer[];
  /** Ids of conversations that were opened in this window. */
  members: string[];
}

/** Only the three keys above are ever asked for: ItemTable also holds what extensions keep secret. */
export function indexWorkspace(db: SqliteFile): WorkspaceIndex {
  const index: WorkspaceIndex = { tabs: [], composers: [], members: [] };
  if (!hasItems(db)) return index;
  for (const tab of toTabs(db)) {
    const conversation = toConversation(tab);
    if (conversation && toList(tab.bubbles).length > 0)
      index.tabs.push({ ...conversation, version: `tab-${digest(tab)}` });
  }
  const data = item(db, COMPOSERS);
  for (const entry of toList(data?.allComposers)) {
    const id = isRecord(entry) ? toText(entry.composerId) : undefined;
    const composer = id && isRecord(entry) ? toComposer(id, entry, digest(entry)) : undefined;
    if (composer) index.composers.push(composer);
  }
  const open = toList(data?.selectedComposerIds).filter((id) => typeof id === "string");
  const views = db
    .all<{ key: unknown }>("select key from ItemTable where key >= ? and key < ?", [
      VIEW,
      "workbench.panel.aichat.view/",
    ])
    .flatMap(({ key }) => toText(key)?.slice(VIEW.length) ?? []);
  index.members = [...new Set([...index.composers.map((composer) => composer.key), ...open, ...views])];
  return index;
}

export function findTab(db: SqliteFile, id: string): { tab: JsonRecord; version: string } | undefined {
  if (!hasItems(db)) return undefined;
  const tab = toTabs(db).find((one) => one.tabId === id);
  return tab && { tab, version: `tab-${digest(tab)}` };
}

/** The entry of an old composer, whose bubbles are in it or in the global database. */
export function findEntry(db: SqliteFile, id: string): { composer: Composer; data: JsonRecord } | undefined {
  if (!hasItems(db)) return undefined;
  for (const data of toList(item(db, COMPOSERS)?.allComposers)) {
    if (!isRecord(data) || data.composerId !== id) continue;
    const composer = toComposer(id, data, digest(data));
    if (composer) return { composer, data };
  }
  return undefined;
}

/** Undefined when the tab has no id. */
export function toConversation(tab: JsonRecord): Conversation | undefined {
  const key = toText(tab.tabId);
  return key === undefined ? undefined : { key, title: toText(tab.chatTitle), updatedAt: toMs(tab.lastSendTime) };
}

const toTabs = (db: SqliteFile): JsonRecord[] => toList(item(db, TABS)?.tabs).filter(isRecord);

function item(db: SqliteFile, key: string): JsonRecord | undefined {
  return parseRecord(
    db.all<{ value: unknown }>("select cast(value as text) as value from ItemTable where key = ?", [key])[0]?.value,
  );
}

function hasItems(db: SqliteFile): boolean {
  const columns = db.columns("ItemTable");
  return columns.includes("key") && columns.includes("value");
}

const digest = (value: unknown) => createHash("sha1").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
