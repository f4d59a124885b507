/**
 * The database of all windows (`globalStorage/state.vscdb`): which composers it holds, and one composer's bubbles. Keys are asked for
 * one by one or by key range; the bulk (checkpoints, diffs, blobs) and ItemTable, which holds the account's tokens, are never touched.
 */

import { isRecord, type JsonRecord, marks, parseRecord, toList, toNumber, toRecord, toText } from "sessarc";
import type { SqliteFile } from "sessarc/adapter";
import { type Conversation, toMs } from "./types.ts";
import { folderOfIdentifier, folderOfResource, pathOfUri } from "./uri.ts";

/** A composer as the list knows it. */
export interface Composer extends Conversation {
  workspace?: string | undefined;
  /** Has bubbles of its own inside the row. */
  inline: boolean;
  /** Bubbles the row puts in order. */
  ordered: number;
  /** What the row looked like when it was read. */
  stamp: string;
}

interface BubbleStats {
  count: number;
  bytes: number;
}

export interface GlobalIndex {
  composers: Map<string, Composer>;
  /** What the table composerHeaders says of conversations, those without a composer too. */
  headers: Map<string, Conversation & { workspace?: string | undefined }>;
  bubbles: Map<string, BubbleStats>;
}

type Raw = Record<string, unknown>;

/** Composers reread at every change, newest first: only those are still being written. */
const RECENT = 20;
/** Past this many changed composers one pass over all bubbles is cheaper. */
const MANY = 200;

/** `previous`: the index of an earlier state; composers whose row did not change since are taken over from it. */
export function indexGlobal(db: SqliteFile, previous?: GlobalIndex): GlobalIndex {
  const tables = new Set(db.tables());
  const headers = tables.has("composerHeaders") ? readHeaders(db) : new Map();
  const composers = new Map<string, Composer>();
  if (!hasKeys(db, tables)) return { composers, headers, bubbles: new Map() };

  const changed: string[] = [];
  const lately = new Set(previous && pickNewest(previous.composers));
  const rows = db.all<Raw>(
    "select key, octet_length(value) as bytes from cursorDiskKV where key >= 'composerData:' and key < 'composerData;' and value is not null",
  );
  for (const row of rows) {
    const id = toText(row.key)?.slice("composerData:".length);
    if (!id) continue;
    const stamp = `${toNumber(row.bytes) ?? 0}.${headers.get(id)?.updatedAt ?? 0}`;
    const known = previous?.composers.get(id);
    // Of those still being written an edit may keep the length.
    if (known?.stamp === stamp && !lately.has(id)) composers.set(id, known);
    else {
      const composer = toComposer(id, composerData(db, id), stamp);
      if (!composer) continue;
      composers.set(id, composer);
      changed.push(id);
    }
  }
  if (!previous || changed.length > MANY + RECENT) return { composers, headers, bubbles: allBubbles(db) };
  const bubbles = new Map(previous.bubbles);
  for (const id of new Set([...changed, ...pickNewest(composers)])) bubbles.set(id, toBubbles(db, id));
  return { composers, headers, bubbles };
}

const pickNewest = (composers: ReadonlyMap<string, Composer>): string[] =>
  [...composers.values()]
    .sort((a, b) => (b.updatedAt ?? 0) - (a.updatedAt ?? 0))
    .slice(0, RECENT)
    .map((composer) => composer.key);

/** Whether there is anything to read: drafts and rows whose bubbles are gone are no conversations. */
export const hasContent = (index: GlobalIndex, id: string): boolean => {
  const composer = index.composers.get(id);
  return (
    composer !== undefined && (composer.inline || (composer.ordered > 0 && (index.bubbles.get(id)?.count ?? 0) > 0))
  );
};

/** Change token of a composer. */
export function composerVersion(composer: Composer, bubbles: BubbleStats | undefined): string {
  return ["composer", composer.stamp, composer.updatedAt ?? 0, bubbles?.count ?? 0, bubbles?.bytes ?? 0].join("-");
}

/** One composer as it stands now; undefined when there is none. */
export function findComposer(
  db: SqliteFile,
  id: string,
): { composer: Composer; data: JsonRecord; bubbles: BubbleStats } | undefined {
  const tables = new Set(db.tables());
  if (!hasKeys(db, tables)) return undefined;
  const [row] = db.all<Raw>("select octet_length(value) as bytes from cursorDiskKV where key = ?", [
    `composerData:${id}`,
  ]);
  const header = tables.has("composerHeaders") ? readHeaders(db, id).get(id) : undefined;
  const data = composerData(db, id);
  const composer = row && toComposer(id, data, `${toNumber(row.bytes) ?? 0}.${header?.updatedAt ?? 0}`);
  if (!composer || !data) return undefined;
  return {
    composer: {
      ...composer,
      title: composer.title ?? header?.title,
      cwd: composer.cwd ?? header?.cwd,
      parent: composer.parent ?? header?.parent,
    },
    data,
    bubbles: toBubbles(db, id),
  };
}

/** Bubbles of one composer, by key range. */
export function toBubbles(db: SqliteFile, id: string): BubbleStats {
  if (!hasKeys(db)) return { count: 0, bytes: 0 };
  const [row] = db.all<Raw>(
    "select count(*) as n, total(octet_length(value)) as bytes from cursorDiskKV where key >= ? and key < ? and value is not null",
    [`bubbleId:${id}:`, `bubbleId:${id};`],
  );
  return { count: toNumber(row?.n) ?? 0, bytes: toNumber(row?.bytes) ?? 0 };
}

/** The stored text of one composer's bubbles with these ids, by id. */
export function bubbleTexts(db: SqliteFile, id: string, bubbles: readonly string[]): Map<string, string> {
  const prefix = `bubbleId:${id}:`;
  const keys = bubbles.map((bubble) => prefix + bubble);
  const rows = db.all<Raw>(
    `select key, cast(value as text) as value from cursorDiskKV where key in (${marks(keys)})`,
    keys,
  );
  const found = new Map<string, string>();
  for (const { key, value } of rows) {
    const text = toText(value);
    if (text && typeof key === "string") found.set(key.slice(prefix.length), text);
  }
  return found;
}

export function toComposer(id: string, data: JsonRecord | undefined, stamp: string): Composer | undefined {
  if (!data) return undefined;
  const workspace = toRecord(data.workspaceIdentifier);
  return {
    key: id,
    title: toText(data.name),
    cwd: folderOfIdentifier(workspace),
    workspace: toText(workspace.id),
    parent: findParent(data),
    createdAt: toMs(data.createdAt),
    updatedAt: toMs(data.lastUpdatedAt),
    model: toText(toRecord(data.modelConfig).modelName),
    inline: toList(data.conversation).length > 0,
    ordered: toList(data.fullConversationHeadersOnly).length,
    stamp,
  };
}

/** Contexts of a conversation that are asked for its folder; each may hold a listing of it. */
const CONTEXTS = 8;
const CONTEXT_BYTES = 4 * 1024 * 1024;

/** The folder of the window that a conversation was sent from, as the context of its requests has it. */
export function folderOfContext(db: SqliteFile, id: string): string | undefined {
  if (!hasKeys(db)) return undefined;
  const rows = db.iterate<Raw>(
    "select cast(value as text) as value from cursorDiskKV where key >= ? and key < ? and octet_length(value) < ? " +
      "order by key limit ?",
    [`messageRequestContext:${id}:`, `messageRequestContext:${id};`, CONTEXT_BYTES, CONTEXTS],
  );
  for (const row of rows) {
    for (const layout of toList(parseRecord(row.value)?.projectLayouts)) {
      const fields = isRecord(layout) ? layout : (parseRecord(layout) ?? {});
      const tree = toRecord(toRecord(fields.listDirV2Result).directoryTreeRoot);
      const folder = pathOfUri(fields.rootPath) ?? pathOfUri(tree.absPath);
      if (folder) return folder;
    }
  }
  return undefined;
}

/** A conversation or a bubble without an identifier of its workspace may name folders: the first, or the repository. */
export function folderNamed(data: JsonRecord): string | undefined {
  const [uri] = toList(data.workspaceUris);
  const [repository] = toList(data.trackedGitRepos).map(toRecord);
  return pathOfUri(data.workspaceProjectDir) ?? folderOfResource(uri) ?? pathOfUri(repository?.repoPath);
}

const findParent = (data: JsonRecord) => toText(toRecord(data.subagentInfo).parentComposerId);

function composerData(db: SqliteFile, id: string): JsonRecord | undefined {
  const [row] = db.all<Raw>("select cast(value as text) as value from cursorDiskKV where key = ?", [
    `composerData:${id}`,
  ]);
  return parseRecord(row?.value);
}

function allBubbles(db: SqliteFile): Map<string, BubbleStats> {
  const found = new Map<string, BubbleStats>();
  const rows = db.iterate<Raw>(
    "select substr(key, 10, instr(substr(key, 10), ':') - 1) as id, count(*) as n, total(octet_length(value)) as bytes " +
      "from cursorDiskKV where key >= 'bubbleId:' and key < 'bubbleId;' and value is not null group by id",
  );
  for (const row of rows) {
    const id = toText(row.id);
    if (id) found.set(id, { count: toNumber(row.n) ?? 0, bytes: toNumber(row.bytes) ?? 0 });
  }
  return found;
}

const HEADER_COLUMNS = ["composerId", "workspaceId", "createdAt", "lastUpdatedAt", "value"];

function readHeaders(db: SqliteFile, id?: string): GlobalIndex["headers"] {
  const present = new Set(db.columns("composerHeaders"));
  const headers: GlobalIndex["headers"] = new Map();
  if (!present.has("composerId")) return headers;
  const columns = HEADER_COLUMNS.filter((name) => present.has(name)).map((name) =>
    name === "value" ? "cast(value as text) as value" : name,
  );
  const sql = `select ${columns.join(", ")} from composerHeaders`;
  for (const row of id === undefined ? db.iterate<Raw>(sql) : db.iterate<Raw>(`${sql} where composerId = ?`, [id])) {
    const key = toText(row.composerId);
    if (!key) continue;
    const value = parseRecord(row.value) ?? {};
    headers.set(key, {
      key,
      title: toText(value.name),
      cwd: folderOfIdentifier(value.workspaceIdentifier),
      workspace: toText(row.workspaceId) ?? toText(toRecord(value.workspaceIdentifier).id),
      parent: findParent(value),
      createdAt: toMs(row.createdAt) ?? toMs(value.createdAt),
      updatedAt: toMs(row.lastUpdatedAt) ?? toMs(value.lastUpdatedAt),
    });
  }
  return headers;
}

/** Whether the table of composers and bubbles is there. */
export function hasKeys(db: SqliteFile, tables: ReadonlySet<string> = new Set(db.tables())): boolean {
  if (!tables.has("cursorDiskKV")) return false;
  const columns = new Set(db.columns("cursorDiskKV"));
  return columns.has("key") && columns.has("value");
}
