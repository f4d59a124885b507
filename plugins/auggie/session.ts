/** A session's document: its exchanges, each a request and what the model answered, as numbered kinds of nodes. */

import { type JsonRecord, parseRecord, type SessionRef, toIso, toList, toNumber, toRecord, toText } from "sessarc";
import { createDraft, readDocument, type SessionDraft } from "sessarc/adapter";
import { billed, count, pay } from "./tokens.ts";

/** Kinds of nodes of a request, and of an answer. */
const REQUEST = { text: 0, result: 1, image: 2, ide: 4, summary: 10 };
const ANSWER = { text: 0, call: 5, thinking: 8, bill: 9, tokens: 10 };
/** Nodes without anything to show: references, edits and settings of a request, ends and starts of parts of an answer. */
const SKIPPED = { request: new Set([3, 5, 6, 7, 8, 9]), answer: new Set([1, 2, 3, 4, 6, 7]) };
/** What the client writes in front of a prompt. */
const INJECTED = /^\s*(?:<supervisor>|# (?:Ask|Plan|\/btw) )/i;

export async function readSession(ref: SessionRef) {
  const found = await readDocument(ref.path);
  if (!found) return undefined;
  const draft = createDraft();
  if (!found.whole) draft.bad();
  const session = toRecord(found.value);
  const model = toText(toRecord(session.agentState).modelId) || "unknown";
  const history = toList(session.chatHistory).map(toRecord);
  const said = new Set<string>();
  let cwd: string | undefined;
  for (const item of history) {
    const exchange = toRecord(item.exchange);
    const nodes = toList(exchange.response_nodes).map(toRecord);
    const at = draft.time(toTime(item, nodes));
    const id = toText(exchange.request_id);
    cwd = addRequest(draft, item, { at, id }, said) ?? cwd;
    const fields = { at, id, model: billed(nodes) ?? model };
    if (item.isHistorySummary === true) draft.say("note", exchange.response_text, fields);
    else addAnswer(draft, exchange, nodes, fields);
    pay(draft, nodes, { key: id, at, model: fields.model });
  }
  // The client asks for summaries itself, and sub-agents have no document: only their calls are here.
  for (const one of toList(session.summarizations).map(toRecord))
    count(
      draft,
      one,
      { key: toText(one.request_id), at: toIso(one.finishedAt), model: toText(one.model) ?? model },
      one.cost_usd,
    );
  for (const agent of toList(session.subAgents).map(toRecord)) {
    for (const item of toList(agent.chatHistory).map(toRecord)) {
      const nodes = toList(toRecord(item.exchange).response_nodes).map(toRecord);
      const key = toText(toRecord(item.exchange).request_id);
      pay(draft, nodes, { key, at: toIso(toTime(item, nodes)), model: billed(nodes) ?? toText(agent.model) ?? model });
    }
  }
  // Prompts that wait; the first may be the one that is being answered.
  for (const { text } of toList(toRecord(session.queue).messages).map(toRecord))
    if (!said.has(String(text))) draft.say("user", text);
  if (history.every(({ source }) => source !== "remote"))
    for (const time of [session.created, session.modified]) draft.time(time);
  return {
    events: draft.take(),
    summary: draft.summary({
      title: toText(session.customTitle) ?? toText(session.title),
      cwd,
      parent: toText(session.parentConversationId),
    }),
  };
}

/** Of an exchange that was fetched from the server, only the answer's own time is true: its others are of the download. */
function toTime(item: JsonRecord, nodes: readonly JsonRecord[]): unknown {
  const own = nodes.map(({ timestamp_ms }) => toNumber(timestamp_ms)).find((time) => time !== undefined);
  return own ?? (item.source === "remote" ? undefined : item.finishedAt);
}

type Fields = { at: string | undefined; id: string | undefined };

/** Adds what was asked; returns the folder that the client worked in. */
function addRequest(draft: SessionDraft, item: JsonRecord, fields: Fields, said: Set<string>): string | undefined {
  const exchange = toRecord(item.exchange);
  let [cwd, isSaid]: [string | undefined, boolean] = [undefined, false];
  const say = (text: unknown) => {
    const isNote = item.isHistorySummary === true || INJECTED.test(toText(text) ?? "");
    draft.say(isNote ? "note" : "user", text, fields);
    isSaid ||= toText(text) !== undefined;
    if (!isNote) said.add(String(text));
  };
  for (const node of toList(exchange.request_nodes).map(toRecord)) {
    if (node.type === REQUEST.text) say(toRecord(node.text_node).content);
    else if (node.type === REQUEST.image) draft.say("user", "[image]", fields);
    else if (node.type === REQUEST.result) {
      const {
        tool_use_id: id,
        content,
        is_error,
        start_time_ms: start,
        duration_ms: took,
      } = toRecord(node.tool_result_node);
      const at = toIso((toNumber(start) ?? Number.NaN) + (toNumber(took) ?? 0)) ?? fields.at;
      draft.result(id, toText(content) ?? "", { ...fields, at, is_error: is_error === true });
    } else if (node.type === REQUEST.ide) {
      const { current_terminal: terminal, workspace_folders: folders } = toRecord(node.ide_state_node);
      cwd = toText(toRecord(terminal).current_working_directory) ?? toText(toRecord(toList(folders)[0]).folder_root);
    } else if (node.type === REQUEST.summary)
      // With it comes, once more, what was not summarized.
      draft.say("note", toRecord(node.history_summary_node).summary_text ?? "Context compacted", fields);
    else if (!SKIPPED.request.has(Number(node.type))) draft.unknown(`request node ${String(node.type)}`);
  }
  if (!isSaid) say(exchange.request_message);
  return cwd;
}

function addAnswer(
  draft: SessionDraft,
  exchange: JsonRecord,
  nodes: readonly JsonRecord[],
  fields: Fields & { model: string },
) {
  const hasTexts = nodes.some((node) => node.type === ANSWER.text && toText(node.content) !== undefined);
  for (const { thinking, type } of nodes) {
    const { content, summary } = toRecord(thinking);
    if (type === ANSWER.thinking) draft.say("thinking", toText(summary) ?? content, fields);
  }
  if (!hasTexts) draft.say("assistant", exchange.response_text, fields);
  for (const node of nodes) {
    if (node.type === ANSWER.text) draft.say("assistant", node.content, fields);
    else if (node.type === ANSWER.call) {
      const { tool_use_id: id, tool_name: name, input_json: input } = toRecord(node.tool_use);
      draft.call(id, name, parseRecord(input) ?? input, fields);
    } else if (
      ![ANSWER.thinking, ANSWER.bill, ANSWER.tokens].includes(Number(node.type)) &&
      !SKIPPED.answer.has(Number(node.type))
    )
      draft.unknown(`answer node ${String(node.type)}`);
  }
}
