/** Messages of OpenCode 2 (`session_message`) to events and usage. A message holds its parts; rows change in place. */

import { type JsonRecord, type SessionSummary, type TokenUsage, toList, toNumber, toRecord, toText } from "sessarc";
import {
  contentText,
  createDraft,
  type EventFields,
  type LooseUsage,
  msToIso,
  type NewEvent,
  toTokens,
} from "sessarc/adapter";
import type { Outputs } from "./outputs.ts";
import { errorText } from "./parse.ts";
import type { SessionRow } from "./types.ts";

export interface MessageRow {
  id: string;
  type: string;
  createdAt: number | undefined;
  data: JsonRecord | undefined;
}

interface MessageParser {
  /** `last`: no message follows, so an unfinished reply may still grow. */
  message(row: MessageRow, last: boolean): NewEvent[];
  bad(): void;
  /** `columns`: the tokens of the session's own row, which also counts titles and deleted replies. */
  finish(columns: TokenUsage | undefined): SessionSummary;
}

/** Content never makes it throw. */
export function createMessageParser(session: SessionRow, outputs: Outputs): MessageParser {
  const draft = createDraft();
  const paid: TokenUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite5m: 0, cacheWrite1h: 0 };

  function pay(row: MessageRow, data: JsonRecord, model: string, at: string | undefined): void {
    const counted = makeTokens(toRecord(data.tokens));
    const usage = toTokens(counted);
    // A fork copies rows with their old times: what is older than the session was paid for elsewhere.
    const inherited =
      row.createdAt !== undefined && session.createdAt !== undefined && row.createdAt < session.createdAt;
    draft.count({ key: row.id, at, model, usage: counted, inherited });
    if (inherited) return;
    for (const name of ["input", "output", "cacheRead", "cacheWrite5m"] as const) paid[name] += usage[name];
  }

  function tool(part: JsonRecord, fields: EventFields, growing: boolean): void {
    const state = toRecord(part.state);
    const time = toRecord(part.time);
    const started = msToIso(time.created) ?? fields.at;
    const done = state.status === "completed" || state.status === "error";
    draft.call(part.id, part.name, state.input, {
      ...fields,
      at: started,
      ...(!done && growing && { open: true as const }),
    });
    if (!done) return;
    const failed = state.status === "error";
    const exit = toNumber(toRecord(state.metadata).exit) ?? 0;
    const { text, ...cut } = failed ? { text: errorText(state.error) } : outputs(contentText(state.content), state);
    draft.result(part.id, text, {
      ...cut,
      at: msToIso(time.completed) ?? started,
      is_error: failed || exit !== 0,
    });
  }

  function reply(row: MessageRow, data: JsonRecord, at: string | undefined, last: boolean): void {
    const model = toText(toRecord(data.model).id) ?? "unknown";
    const completed = draft.time(toRecord(data.time).completed);
    const growing = last && completed === undefined && !data.error;
    const fields: EventFields = { id: row.id, at, model, ...(growing && { open: true as const }) };
    pay(row, data, model, at);
    for (const part of toList(data.content).map(toRecord)) {
      const started = msToIso(toRecord(part.time).created) ?? at;
      if (part.type === "text") draft.say("assistant", part.text, { ...fields, at: started });
      else if (part.type === "reasoning") draft.say("thinking", part.text, { ...fields, at: started });
      else if (part.type === "tool") tool(part, { id: row.id, at, model }, growing);
      else draft.unknown(`content:${toText(part.type) ?? "?"}`);
    }
    if (data.error) draft.say("note", errorText(data.error), { id: row.id, at: completed ?? at, is_error: true });
  }

  function compaction(row: MessageRow, data: JsonRecord, fields: EventFields): void {
    const summary = toText(data.summary);
    draft.say(
      "note",
      summary === undefined ? "Conversation compacted" : `Conversation compacted\n\n${summary}`,
      fields,
    );
    if (data.status === "completed") pay(row, data, toText(toRecord(data.model).id) ?? "unknown", fields.at);
  }

  return {
    bad: draft.bad,
    message(row, last) {
      const { id, data } = row;
      const at = draft.time(toRecord(data?.time).created ?? row.createdAt);
      const fields: EventFields = { id, at };
      const note = (text: unknown) => draft.say("note", text, fields);
      if (id === session.revertedFrom) note("Reverted: the assistant hides what follows");
      if (!data) draft.bad();
      else if (row.type === "user") {
        draft.say("user", data.text, fields);
        for (const file of toList(data.files).map(toRecord))
          note(
            `[file] ${toText(file.filename) ?? toText(file.name) ?? toText(file.path) ?? toText(file.mime) ?? "attachment"}`,
          );
      } else if (row.type === "assistant") reply(row, data, at, last);
      else if (row.type === "compaction") compaction(row, data, fields);
      else if (row.type === "shell")
        note(`! ${toText(data.command) ?? ""}\n${toText(toRecord(data.output).output) ?? ""}`.trim());
      else if (row.type === "skill") note([data.name, data.text].map(toText).filter(Boolean).join("\n\n"));
      else if (row.type === "synthetic" || row.type === "system") note(data.text);
      else if (row.type === "model-switched") note(`Model: ${toText(toRecord(data.model).id) ?? "unknown"}`);
      else if (row.type === "agent-switched") note(`Agent: ${toText(data.agent) ?? "unknown"}`);
      else if (row.type === "location-switched") note("The session moved to another folder");
      else if (row.type !== "idle") draft.unknown(`message:${row.type}`);
      return draft.take();
    },
    finish(columns) {
      const summary = draft.summary();
      const left = columns && rest(columns, paid);
      return {
        ...summary,
        title: session.title,
        assistantVersion: session.version,
        cwd: session.directory ?? (session.worktree === "/" ? undefined : session.worktree),
        parent: session.parent,
        forkedFrom: session.forkedFrom,
        startedAt: msToIso(session.createdAt) ?? summary.startedAt,
        endedAt: later(msToIso(session.createdAt), summary.endedAt),
        ...(left && { unlogged: left }),
      };
    },
  };
}

/** Reasoning is outside the output. */
export function makeTokens({ input, output, reasoning, cache }: JsonRecord): LooseUsage {
  const { read: cacheRead, write: cacheWrite5m } = toRecord(cache);
  return { input, output, reasoning, cacheRead, cacheWrite5m };
}

/** What the columns count beyond the messages; undefined where there is nothing. */
export function rest(columns: TokenUsage, paid: TokenUsage): TokenUsage | undefined {
  const left = { ...columns };
  for (const name of ["input", "output", "cacheRead", "cacheWrite5m"] as const)
    left[name] = Math.max(0, columns[name] - paid[name]);
  return left.input + left.output + left.cacheRead + left.cacheWrite5m > 0 ? left : undefined;
}

/** Both in milliseconds, so that they compare as texts. */
const later = (a: string | undefined, b: string | undefined) => (a !== undefined && (b === undefined || a > b) ? a : b);
