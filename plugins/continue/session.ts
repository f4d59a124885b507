/** A session's document: its history, and its row in the list of sessions, which has the date. */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import { type JsonRecord, type SessionRef, toList, toNumber, toRecord, toText } from "sessarc";
import {
  contentText,
  createDraft,
  readDocument,
  type SessionDraft,
  toCount,
  uriToPath,
  withoutCache,
} from "sessarc/adapter";

export async function readSession(ref: SessionRef) {
  const found = await readDocument(ref.path);
  if (!found) return undefined;
  const draft = createDraft();
  if (!found.whole) draft.bad();
  const session = toRecord(found.value);
  const index = toList((await readDocument(join(dirname(ref.path), "sessions.json")))?.value).map(toRecord);
  const row = index.find((one) => one.sessionId === ref.key);
  // Milliseconds as text. Messages have no times, so the session starts and ends there.
  const started = toText(row?.dateCreated);
  const at = draft.time(started === undefined ? row?.dateCreated : Number(started));
  const toKey = createKeys(ref.key);
  for (const item of toList(session.history).map(toRecord)) {
    addItem(draft, item);
    pay(draft, toRecord(toRecord(item.message).usage), toKey(toRecord(item.message)), at);
  }
  return {
    events: draft.take(),
    summary: draft.summary({
      title: toText(session.title) ?? toText(row?.title),
      cwd: uriToPath(session.workspaceDirectory) ?? uriToPath(row?.workspaceDirectory),
    }),
  };
}

/**
 * Replies have no ids, and a fork is a copy that names no origin. From the first call on, whose id is the provider's, a reply is the
 * same as another when all that was said up to it is. Before that two sessions may well begin alike: those replies are the session's own.
 */
function createKeys(session: string): (message: JsonRecord) => string {
  let [said, index, hasCall] = ["", 0, false];
  return (message) => {
    said = createHash("sha256").update(said).update(JSON.stringify(message)).digest("hex");
    hasCall ||= toList(message.toolCalls).some((call) => toText(toRecord(call).id) !== undefined);
    return hasCall ? said : `${session}:${index++}`;
  };
}

function addItem(draft: SessionDraft, item: JsonRecord): void {
  const message = toRecord(item.message);
  const model = toText(toRecord(message.usage).model);
  draft.say("thinking", toRecord(item.reasoning).text, { model });
  const text = contentText(message.content);
  switch (message.role) {
    case "user":
      draft.say("user", text);
      break;
    case "assistant":
      draft.say("assistant", text, { model });
      break;
    case "thinking":
      draft.say("thinking", text);
      break;
    case "system":
      draft.say("note", text);
      break;
    case "tool":
      break; // the state of the call has the result
    default:
      draft.unknown(`role:${toText(message.role) ?? "?"}`);
  }
  const states = new Map(
    toList(item.toolCallStates)
      .map(toRecord)
      .map((state) => [state.toolCallId, state]),
  );
  for (const call of toList(message.toolCalls).map(toRecord)) {
    const { name, arguments: input } = toRecord(call.function);
    draft.call(call.id, name, input, { model });
    const state = states.get(call.id);
    if (!state || !["done", "errored", "canceled"].includes(String(state.status))) continue;
    const output = toList(state.output).map((part) => toText(toRecord(part).content) ?? "");
    draft.result(call.id, output.filter(Boolean).join("\n"), { is_error: state.status !== "done" });
  }
}

/** Cached tokens are inside the prompt's, reasoning inside the completion's. The session's own sum loses the cache. */
function pay(draft: SessionDraft, usage: JsonRecord, key: string, at: string | undefined): void {
  const [sent, output] = [toCount(usage.prompt_tokens), toCount(usage.completion_tokens)];
  const cacheRead = toCount(toNumber(toRecord(usage.prompt_tokens_details).cached_tokens));
  if (sent + output === 0) return;
  const tokens = { input: withoutCache(sent, cacheRead, 0), output, cacheRead };
  draft.count({ key, at, model: toText(usage.model) ?? "unknown", usage: tokens });
}
