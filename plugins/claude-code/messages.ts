/** User and assistant records → events. */

import { BoundedMap, isJson, isRecord, type JsonRecord, toText } from "sessarc";
import type { NewEvent } from "sessarc/adapter";
import { contentText, splitUserText } from "./rows.ts";

const OPEN_CALLS = 512;

/** `output`: the text of a result, from the file that has it. */
export function createMessages(isAgent: boolean, output: (shown: string) => Pick<NewEvent, "text" | "truncated">) {
  /** Tool calls without a result yet: id → name. */
  const calls = new BoundedMap<string, string>(OPEN_CALLS);

  const fromUser = (row: JsonRecord, message: JsonRecord, at: string | undefined): NewEvent[] => {
    const events: NewEvent[] = [];
    const id = toText(row.uuid);
    // Text that no person typed: flagged by the client, or a sub-agent's task inside its parent's file.
    const injected = row.isMeta === true || row.isCompactSummary === true || (row.isSidechain === true && !isAgent);
    const typed: string[] = [];
    const take = (text: string): void => {
      if (text === "") return;
      const split = injected ? { notes: [text], typed: "" } : splitUserText(text);
      for (const note of split.notes) events.push({ kind: "note", text: note, id, at });
      if (split.typed !== "") typed.push(split.typed);
    };
    if (typeof message.content === "string") take(message.content);
    for (const block of Array.isArray(message.content) ? message.content : []) {
      if (typeof block === "string") take(block);
      else if (!isRecord(block)) continue;
      else if (block.type === "text") take(typeof block.text === "string" ? block.text : "");
      else if (block.type === "image" || block.type === "document") typed.push("[image]");
      else if (typeof block.type === "string" && block.type.endsWith("tool_result")) events.push(result(block, id, at));
    }
    if (typed.length > 0) events.push({ kind: injected ? "note" : "user", text: typed.join("\n"), id, at });
    return events;
  };

  const fromAssistant = (row: JsonRecord, message: JsonRecord, at: string | undefined): NewEvent[] => {
    const events: NewEvent[] = [];
    const id = toText(row.uuid);
    const model = toText(message.model);
    const said = (text: string): void => {
      if (text === "") return;
      const event: NewEvent = { kind: "assistant", text, id, at, model };
      if (row.isApiErrorMessage === true) event.is_error = true;
      events.push(event);
    };
    if (typeof message.content === "string") said(message.content);
    for (const block of Array.isArray(message.content) ? message.content : []) {
      if (!isRecord(block)) continue;
      if (block.type === "text") said(typeof block.text === "string" ? block.text : "");
      else if (block.type === "thinking" || block.type === "redacted_thinking") {
        const text = toText(block.thinking);
        if (text) events.push({ kind: "thinking", text, id, at, model });
      } else if (block.type === "tool_use" || block.type === "server_tool_use" || block.type === "mcp_tool_use") {
        const name = toText(block.name);
        const call = toText(block.id);
        if (call && name) remember(call, name);
        const input = isJson(block.input) ? block.input : undefined;
        events.push({
          kind: "tool_use",
          text: "",
          id,
          at,
          model,
          tool_name: name,
          tool_use_id: call,
          tool_input: input,
        });
      } else if (block.type === "image") said("[image]");
      else if (typeof block.type === "string" && block.type.endsWith("tool_result")) events.push(result(block, id, at));
    }
    return events;
  };

  const remember = (call: string, name: string): void => {
    calls.set(call, name);
  };

  const result = (block: JsonRecord, id: string | undefined, at: string | undefined): NewEvent => {
    const call = toText(block.tool_use_id);
    const event: NewEvent = { kind: "tool_result", ...output(contentText(block.content)), id, at };
    if (call) {
      event.tool_use_id = call;
      event.tool_name = calls.get(call);
      calls.delete(call);
    }
    if (typeof block.is_error === "boolean") event.is_error = block.is_error;
    return event;
  };

  /** A prompt typed while the assistant was at work is only found as an attachment. */
  const queued = (row: JsonRecord, at: string | undefined): NewEvent[] => {
    if (!isRecord(row.attachment) || row.attachment.type !== "queued_command") return [];
    const content = row.attachment.prompt;
    return fromUser({ uuid: row.uuid, isMeta: row.attachment.isMeta === true }, { content }, at);
  };

  return { fromUser, fromAssistant, queued };
}
