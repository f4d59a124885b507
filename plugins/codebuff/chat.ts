/** A chat: the messages as they were shown, and beside them the state of its agent, which names the folder. */
import { basename, dirname } from "node:path";
import { type JsonRecord, type SessionRef, type SessionSummary, toIso, toList, toRecord, toText } from "sessarc";
import {
  apiUsage,
  createDraft,
  type EventFields,
  hash53,
  readDocument,
  readRecord,
  type SessionDraft,
} from "sessarc/adapter";

/** Blocks of the screen alone. */
const SILENT = new Set(["mode-divider", "agent-list", "gate-state", "html"]);
/** Agents within agents; deeper ones are left out. */
const DEPTH = 16;

/** The folder; without it the project is known by the name of the chats' folder alone. */
export function toPlace(chat: string, state: string): Pick<SessionSummary, "cwd" | "virtualProject"> {
  const { projectRoot, cwd } = toRecord(toRecord(readRecord(state)?.sessionState).fileContext);
  const folder = toText(projectRoot) ?? toText(cwd);
  const name = basename(dirname(dirname(dirname(chat))));
  return folder === undefined ? { virtualProject: { key: name, name } } : { cwd: folder };
}

export async function readChat(ref: SessionRef, state: string) {
  const found = await readDocument(ref.path);
  if (!found) return undefined;
  const draft = createDraft();
  const start = draft.time(basename(dirname(ref.path)).replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
  const messages = toList(found.value).map(toRecord);
  if (!Array.isArray(found.value)) draft.bad();
  let at = start;
  const own: Counted[] = [];
  const history: Counted[] = [];
  for (const message of messages) {
    at = findTime(draft, message) ?? at;
    addMessage(draft, message, { id: toText(message.id), at });
    const { metadata } = message;
    const { usage, codebuff, model, runState } = toRecord(metadata);
    own.push(...counted(`${ref.key}:${String(message.id)}`, at, [usage, toRecord(codebuff).usage], model));
    history.push(...toHistory(ref.key, at, toRecord(runState)));
  }
  history.push(...toHistory(ref.key, at, readRecord(state) ?? {}));
  // Either the messages have the figures or the agent's own history does, which repeats itself in each message.
  for (const entry of own.length > 0 ? own : history) draft.count(entry);
  return { events: draft.take(), summary: draft.summary(toPlace(ref.path, state)) };
}

type Counted = Parameters<SessionDraft["count"]>[0];

/** Ids end with the time in ms; what is shown (`12:38 PM`) has no date. */
function findTime(draft: SessionDraft, { id, timestamp }: JsonRecord): string | undefined {
  const [, ms] = /(?:^|-)(\d{13})(?:-|$)/.exec(toText(id) ?? "") ?? [];
  const written = /^\d{4}-/.test(toText(timestamp) ?? "") ? toIso(timestamp) : undefined;
  return draft.time(ms === undefined ? written : Number(ms));
}

/** The calls that an agent's history has figures of. */
function toHistory(chat: string, at: string | undefined, { sessionState }: JsonRecord): Counted[] {
  const { messageHistory } = toRecord(toRecord(sessionState).mainAgentState);
  return toList(messageHistory).flatMap((entry) => {
    const { role, providerOptions } = toRecord(entry);
    const { usage, codebuff } = toRecord(providerOptions);
    if (role !== "assistant") return [];
    const key = `${chat}:${hash53(JSON.stringify(entry))}`;
    return counted(key, at, [usage, toRecord(codebuff).usage], toRecord(codebuff).model);
  });
}

/** The first of `places` that has tokens. */
function counted(key: string, at: string | undefined, places: readonly unknown[], model: unknown): Counted[] {
  const place = places.find((one) => Object.values(apiUsage(one)).some((tokens) => tokens !== 0));
  if (place === undefined) return [];
  return [{ key, at, model: toText(toRecord(place).model) ?? toText(model) ?? "unknown", usage: apiUsage(place) }];
}

function addMessage(draft: SessionDraft, message: JsonRecord, fields: EventFields): void {
  const { variant, content, credits, userError } = message;
  const isReply = variant === "ai" || variant === "agent";
  const open = isReply && message.isComplete === false ? { open: true as const } : {};
  if (!isReply && variant !== "user" && variant !== "error") draft.unknown(`message:${toText(variant) ?? "?"}`);
  else draft.say(variant === "user" ? "user" : isReply ? "assistant" : "note", content, { ...fields, ...open });
  addBlocks(draft, message.blocks, { ...fields, ...open }, 0);
  for (const file of [...toList(message.attachments), ...toList(message.fileAttachments)].map(toRecord))
    draft.say("note", `[file] ${toText(file.filename) ?? toText(file.path) ?? "attachment"}`, fields);
  for (const text of toList(message.textAttachments).map(toRecord)) draft.say("note", text.content, fields);
  draft.say("note", userError, { ...fields, is_error: true });
  if (typeof credits === "number" && credits > 0) draft.say("note", `Credits: ${credits}`, fields);
}

/** `depth`: 0 for the agent that the person talks to; what others say is a note. */
function addBlocks(draft: SessionDraft, blocks: unknown, fields: EventFields, depth: number): void {
  for (const block of toList(blocks).map(toRecord)) {
    const { type, content } = block;
    if (type === "text") {
      const kind = block.textType === "reasoning" ? "thinking" : depth > 0 ? "note" : "assistant";
      draft.say(kind, content, fields);
    } else if (type === "tool") {
      draft.call(block.toolCallId, block.toolName, block.input, fields);
      if (block.output !== undefined) draft.result(block.toolCallId, toOutput(block.output), fields);
    } else if (type === "agent") {
      const { agentId, agentType, initialPrompt, params } = block;
      draft.call(agentId, "spawn_agents", { agent: agentType, prompt: initialPrompt, params }, fields);
      if (depth < DEPTH) addBlocks(draft, block.blocks, fields, depth + 1);
      else draft.unknown("block:agent");
      const failed = block.status === "failed" || block.status === "cancelled";
      if (block.status !== "running") draft.result(agentId, toText(content) ?? "", { ...fields, is_error: failed });
    } else if (type === "plan") draft.say("assistant", content, fields);
    else if (type === "ask-user")
      draft.say("note", JSON.stringify({ questions: block.questions, answers: block.answers }), fields);
    else if (type === "image") draft.say("note", `[image] ${toText(block.filename) ?? ""}`.trim(), fields);
    else if (!SILENT.has(String(type))) draft.unknown(`block:${toText(type) ?? "?"}`);
  }
}

const toOutput = (output: unknown): string => (typeof output === "string" ? output : JSON.stringify(output));
