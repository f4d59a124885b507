/** Tool calls and their results: which are open, how they ended, and what a script of the code mode called. */

import { BoundedMap, type JsonRecord, toRecord, toText } from "sessarc";
import { type NewEvent, toToolInput } from "sessarc/adapter";
import { toNestedCall } from "./nested.ts";
import { toOutput } from "./outputs.ts";
import { contentText } from "./rows.ts";

const OPEN_CALLS = 512;

/** Calls whose item and events may still come. */
const GIVEN = 64;

export function createCalls() {
  /** Names of calls without a result yet, and exit codes that came before the result. */
  const names = new BoundedMap<string, string>(OPEN_CALLS);
  const exits = new BoundedMap<string, number>(OPEN_CALLS);
  /** Calls that were given already: an item and events may say the same. True: by events. */
  const given = new BoundedMap<string, boolean>(GIVEN);
  return {
    /** Undefined for a call that events gave already. */
    use(
      item: JsonRecord,
      name: string,
      input: unknown,
      at: string | undefined,
      model: string | undefined,
    ): NewEvent | undefined {
      const id = toText(item.call_id) ?? toText(item.id);
      if (id && given.get(id)) return undefined;
      if (id) given.set(id, false);
      if (id) names.set(id, name);
      const event: NewEvent = {
        kind: "tool_use",
        text: "",
        id: toText(item.id),
        at,
        model,
        tool_name: name,
      };
      return { ...event, tool_use_id: id, tool_input: toToolInput(input) };
    },
    /** Undefined for the result of a call that events gave already. */
    result(item: JsonRecord, at: string | undefined): NewEvent | undefined {
      const id = toText(item.call_id) ?? "";
      if (given.get(id)) return undefined;
      const { text, failed } = toOutput(item.output ?? item.tools);
      const exit = exits.get(id);
      const event: NewEvent = { kind: "tool_result", text, id: toText(item.id), at };
      if (id) {
        event.tool_use_id = id;
        event.tool_name = names.get(id);
      }
      const error = exit === undefined ? failed : exit !== 0;
      if (error !== undefined) event.is_error = error;
      names.delete(id);
      exits.delete(id);
      return event;
    },
    /** A call of a tool server, of which some versions write events alone: the call with its begin, its result with its end. */
    server(payload: JsonRecord, at: string | undefined, model: string | undefined): NewEvent[] {
      const id = toText(payload.call_id);
      if (id === undefined || given.get(id) === false) return [];
      const { server, tool, arguments: input } = toRecord(payload.invocation);
      const tool_name = [server, tool].flatMap((part) => toText(part) ?? []).join("__") || "tool";
      const shared = { at, tool_name, tool_use_id: id };
      const call: NewEvent = { ...shared, kind: "tool_use", text: "", model, tool_input: toToolInput(input) ?? null };
      const isNew = !given.has(id);
      given.set(id, true);
      if (payload.type === "mcp_tool_call_begin") return isNew ? [call] : [];
      const { Ok: ok, Err: failure } = toRecord(payload.result);
      const answer = toRecord(ok ?? payload.result);
      const text = failure === undefined ? contentText(answer.content) : (toText(failure) ?? JSON.stringify(failure));
      const is_error = failure !== undefined || answer.isError === true || answer.is_error === true;
      return [...(isNew ? [call] : []), { ...shared, kind: "tool_result", text, is_error }];
    },
    /** A command's exit code, which an event before the result carries. */
    keepExit(id: unknown, code: unknown): void {
      if (typeof id === "string" && typeof code === "number" && names.has(id)) exits.set(id, code);
    },
    /** Call and result of an item that a script made; undefined for any other item. */
    nested(item: JsonRecord, at: string | undefined, model: string | undefined): NewEvent[] | undefined {
      const call = toNestedCall(item);
      if (!call || given.get(call.id)) return undefined;
      given.set(call.id, false);
      const shared = { at, tool_name: call.name, tool_use_id: call.id };
      return [
        { ...shared, kind: "tool_use", text: "", model, tool_input: call.input },
        { ...shared, kind: "tool_result", text: call.output, is_error: call.failed },
      ];
    },
  };
}
