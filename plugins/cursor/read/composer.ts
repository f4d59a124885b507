/** A composer: its bubbles in order, from its own row or the global database. */
import { isRecord, type JsonRecord, parseRecord, type SessionSummary, toList, toRecord, toText } from "sessarc";
import type { NewEvent, SqliteFile } from "sessarc/adapter";
import { bubbleTexts, findComposer, folderNamed, folderOfContext, hasKeys } from "../stores/global.ts";
import type { Conversation } from "../stores/types.ts";
import { type Builder, createBuilder } from "./conversation.ts";

/**
 * The drafts of a composer in the order of its headers (that order is the truth: bubbles without a header are leftovers), else of its
 * inline conversation. `db` holds the bubbles; without it only inline ones are found.
 */
export function* composerDrafts(
  data: JsonRecord,
  conversation: Conversation,
  db: SqliteFile | undefined,
  onBytes: (bytes: number) => void,
): Generator<NewEvent, { summary: SessionSummary; builder: Builder; workspace?: string | undefined }> {
  const builder = createBuilder(conversation);
  let workspace = folderNamed(data);
  const inline = new Map<string, unknown>();
  for (const bubble of toList(data.conversation)) {
    const id = isRecord(bubble) ? toText(bubble.bubbleId) : undefined;
    if (id) inline.set(id, bubble);
  }
  for (const [id, bubble] of Object.entries(toRecord(data.conversationMap)))
    if (!inline.has(id)) inline.set(id, bubble);
  const aside = toolsAside(data);
  const read = db && hasKeys(db) ? db : undefined;
  const generating = data.status === "generating";
  const headers = toList(data.fullConversationHeadersOnly);

  if (headers.length === 0) {
    const bubbles = toList(data.conversation);
    for (const [i, bubble] of bubbles.entries()) {
      const id = isRecord(bubble) ? toText(bubble.bubbleId) : undefined;
      workspace ??= folderNamed(toRecord(bubble));
      yield* builder.bubble(bubble, generating && i === bubbles.length - 1, id && aside.get(id));
    }
  }
  const seen = new Set<string>();
  let stored = new Map<string, string>();
  for (const [i, header] of headers.entries()) {
    if (read && i % AT_ONCE === 0) stored = bubbleTexts(read, conversation.key, toIds(headers.slice(i, i + AT_ONCE)));
    const id = findId(header);
    if (!id) {
      builder.bad();
      continue;
    }
    // A header that comes twice shows its bubble once.
    if (seen.has(id)) continue;
    seen.add(id);
    const text = stored.get(id);
    if (text) onBytes(text.length);
    const bubble = text === undefined ? inline.get(id) : parseRecord(text);
    if (bubble === undefined) {
      if (text === undefined) builder.count("bubble:missing");
      else builder.bad();
      continue;
    }
    workspace ??= folderNamed(toRecord(bubble));
    yield* builder.bubble(typeOf(bubble, header), generating && i === headers.length - 1, aside.get(id));
  }
  workspace ??= read && (folderOfContext(read, conversation.key) ?? folderOfParent(read, conversation));
  return { summary: builder.finish(), builder, workspace };
}

/** A sub-agent works where the conversation that started it does. */
const folderOfParent = (db: SqliteFile, { parent }: Conversation): string | undefined =>
  parent === undefined ? undefined : (findComposer(db, parent)?.composer.cwd ?? folderOfContext(db, parent));

/** Bubbles fetched with one query: memory holds these, not the conversation. */
const AT_ONCE = 64;

const findId = (header: unknown) => (isRecord(header) ? toText(header.bubbleId) : undefined);
const toIds = (headers: readonly unknown[]) => headers.flatMap((header) => findId(header) ?? []);

/** Some bubbles leave their type to their header. */
const typeOf = (bubble: unknown, header: unknown): unknown =>
  isRecord(bubble) && isRecord(header) && bubble.type === undefined ? { ...bubble, type: header.type } : bubble;

/** Old composers keep tool calls beside the conversation, by bubble. */
function toolsAside(data: JsonRecord): Map<string, unknown> {
  const found = new Map<string, unknown>();
  for (const capability of toList(data.capabilities)) {
    if (!isRecord(capability) || capability.type !== 15) continue;
    const map = toRecord(capability.data).bubbleDataMap;
    for (const [id, call] of Object.entries(isRecord(map) ? map : (parseRecord(map) ?? {}))) found.set(id, call);
  }
  return found;
}
