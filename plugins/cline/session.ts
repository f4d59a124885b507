/** The newer store: a session's manifest and its messages, or those of a sub-agent. */
import { basename, dirname, join } from "node:path";
import { type JsonRecord, type SessionRef, toIso, toList, toRecord, toText } from "sessarc";
import { createDraft, readDocument, toCount, withoutCache } from "sessarc/adapter";
import { addMessage } from "./messages.ts";

export async function readSession(ref: SessionRef) {
  const found = await readDocument(ref.path);
  if (!found) return undefined;
  const draft = createDraft();
  if (!found.whole) draft.bad();
  const document = toRecord(found.value);
  const manifest = await readManifest(ref);
  const metadata = toRecord(manifest.metadata);
  const isAgent = ref.parent !== undefined;
  const fork = toRecord(metadata.fork);
  const isMigrated = metadata.legacyTask !== undefined || metadata.migratedFromLegacyTask !== undefined;
  // Replies older than the session are copies: a fork and a migrated task keep them with their ids and times.
  const ownFrom = isAgent ? undefined : toIso(fork.forkedAt ?? (isMigrated ? manifest.started_at : undefined));
  if (!isAgent) for (const time of [manifest.started_at, manifest.ended_at]) draft.time(time);
  for (const message of toList(document.messages).map(toRecord)) {
    const model = toText(toRecord(message.modelInfo).id);
    addMessage(draft, message, model, true);
    const metrics = toRecord(message.metrics);
    const [input, output] = [toCount(metrics.inputTokens), toCount(metrics.outputTokens)];
    const [cacheRead, cacheWrite5m] = [toCount(metrics.cacheReadTokens), toCount(metrics.cacheWriteTokens)];
    if (input + output === 0) continue;
    const at = toIso(message.ts);
    const entry = {
      key: toText(message.id),
      at,
      model: model ?? toText(manifest.model) ?? "unknown",
      usage: { input: withoutCache(input, cacheRead, cacheWrite5m), output, cacheRead, cacheWrite5m },
      inherited: at !== undefined && ownFrom !== undefined && Date.parse(at) < Date.parse(ownFrom),
    };
    draft.count(entry, metrics.cost);
  }
  return {
    events: draft.take(),
    summary: draft.summary({
      ...toFacts(manifest, isAgent),
      assistantVersion: toText(toRecord(toRecord(manifest.metadata).sessionHistoryOrigin).version),
      parent: ref.parent,
      forkedFrom: isAgent ? undefined : toText(fork.forkedFromSessionId),
    }),
  };
}

/** Title and folder without the messages. */
export const peekSession = async (ref: SessionRef) => toFacts(await readManifest(ref), ref.parent !== undefined);

async function readManifest({ path }: SessionRef): Promise<JsonRecord> {
  const folder = dirname(path);
  return toRecord((await readDocument(join(folder, `${basename(folder)}.json`)))?.value);
}

/** A sub-agent works in its session's folder and has no title. */
function toFacts(manifest: JsonRecord, isAgent: boolean) {
  const metadata = toRecord(manifest.metadata);
  return {
    title: isAgent ? undefined : toText(metadata.title),
    cwd: toText(manifest.cwd) ?? toText(manifest.workspace_root),
    gitBranch: toText(toRecord(metadata.git).branch),
  };
}
