/** The older store: a task's messages, and the rows of its window, which hold the tokens. */

import { access } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type JsonRecord, parseRecord, type SessionRef, toIso, toList, toNumber, toRecord, toText } from "sessarc";
import { createDraft, readDocument, type SessionDraft, toCount, toTitle, withoutCache } from "sessarc/adapter";
import { isGone } from "sessarc/files";
import { addMessage } from "./messages.ts";

/** A model, and from when on it was used. */
interface ModelUse {
  ts: number;
  model: string;
}

export async function readTask(ref: SessionRef) {
  const found = await readDocument(ref.path);
  if (!found) return undefined;
  const draft = createDraft();
  if (!found.whole) draft.bad();
  const folder = dirname(ref.path);
  const load = async (name: string) => (await readDocument(join(folder, name)))?.value;
  const item = await readItem(folder);
  const messages = toList(found.value).map(toRecord);
  const models = toModels(toRecord(await load("task_metadata.json")), messages, toText(item.modelId));

  // Without tags only the first text is certain to be the person's.
  for (const [index, message] of messages.entries())
    addMessage(draft, message, modelAt(models, toNumber(message.ts)), index === 0);
  for (const row of toList(await load("ui_messages.json")).map(toRecord)) {
    draft.time(row.ts);
    if (row.say === "api_req_started") addRequest(draft, ref.key, row, models);
  }
  const parent = toText(item.parentTaskId);
  return {
    events: draft.take(),
    summary: draft.summary({
      ...toFacts(item),
      parent: parent !== undefined && (await isThere(join(dirname(folder), parent))) ? parent : undefined,
    }),
  };
}

/** A request without `tokensOut` was cancelled. */
function addRequest(draft: SessionDraft, task: string, row: JsonRecord, models: readonly ModelUse[]): void {
  const request = parseRecord(row.text);
  if (!request) draft.bad();
  if (request?.tokensOut === undefined) return;
  const [cacheRead, cacheWrite5m] = [toCount(request.cacheReads), toCount(request.cacheWrites)];
  const sent = toCount(request.tokensIn);
  // With `apiProtocol` (Roo Code from 3.29.4) `tokensIn` is the whole prompt, except where it is less than what it would hold.
  const isWhole = request.apiProtocol !== undefined && sent >= cacheRead + cacheWrite5m;
  const input = isWhole ? withoutCache(sent, cacheRead, cacheWrite5m) : sent;
  const output = toCount(request.tokensOut);
  if (input + output + cacheRead + cacheWrite5m === 0) return;
  const entry = {
    key: `${task}:${String(row.ts)}`,
    at: toIso(row.ts),
    model: modelAt(models, toNumber(row.ts)) ?? toText(request.inferenceProvider) ?? "unknown",
    usage: { input, output, cacheRead, cacheWrite5m },
  };
  draft.count(entry, request.cost);
}

/** From the task's own list, else from the environment text in the messages. */
function toModels(metadata: JsonRecord, messages: readonly JsonRecord[], fallback: string | undefined): ModelUse[] {
  const listed = toList(metadata.model_usage).flatMap((one) => {
    const { ts, model_id } = toRecord(one);
    const model = toText(model_id);
    return model ? [{ ts: toNumber(ts) ?? 0, model }] : [];
  });
  if (listed.length > 0) return listed;
  const named = messages.flatMap(({ role, ts, content }) => {
    if (role === "assistant") return [];
    const texts = toList(content).map((block) => toText(toRecord(block).text) ?? "");
    const model = /<model>([^<]+)<\/model>/.exec(
      texts.find((text) => text.includes("<environment_details>")) ?? "",
    )?.[1];
    return model ? [{ ts: toNumber(ts) ?? 0, model }] : [];
  });
  return named.length > 0 || fallback === undefined ? named : [{ ts: 0, model: fallback }];
}

const modelAt = (models: readonly ModelUse[], ts: number | undefined): string | undefined =>
  (models.findLast((one) => one.ts <= (ts ?? Number.POSITIVE_INFINITY)) ?? models[0])?.model;

/** Title and folder without the messages. */
export const peekTask = async ({ path }: SessionRef) => toFacts(await readItem(dirname(path)));

const toFacts = (item: JsonRecord) => ({
  title: toTitle(toText(item.task)),
  cwd: toText(item.workspace) ?? toText(item.cwdOnTaskInitialization),
});

/** A file of the task's own, else its row in the list that Cline keeps for all tasks. */
async function readItem(folder: string): Promise<JsonRecord> {
  const own = await readDocument(join(folder, "history_item.json"));
  if (own) return toRecord(own.value);
  const list = await readDocument(join(dirname(dirname(folder)), "state", "taskHistory.json"));
  return toRecord(toList(list?.value).find((one) => toRecord(one).id === basename(folder)));
}

const isThere = (path: string) =>
  access(path).then(
    () => true,
    (error: unknown) => {
      if (isGone(error)) return false;
      throw error;
    },
  );
