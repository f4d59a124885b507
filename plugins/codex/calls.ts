/** Tool calls and their results: which are open, how they ended, and what a script of the code mode called. */

import { type JsonRecord, type NewEvent, toText } from "sessarc/adapter";
import { BoundedMap, toToolInput } from "#internal/adapter";
import { toNestedCall } from "./nested.ts";
import { toOutput } from "./outputs.ts";

const OPEN_CALLS = 512;

/** Calls without a result yet, by id: their names, and exit codes that came before the result. */
export interface OpenCalls {
  names: Record<string, string>;
  exits: Record<string, number>;
}

export function createCalls(past?: OpenCalls) {
  const names = new BoundedMap(OPEN_CALLS, Object.entries(past?.names ?? {}));
  const exits = new BoundedMap(OPEN_CALLS, Object.entries(past?.exits ?? {}));
  return {
    use(item: JsonRecord, name: string, input: unknown, at: string | undefined, model: string | undefined): NewEvent {
      const id = toText(item.call_id) ?? toText(item.id);
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
    result(item: JsonRecord, at: string | undefined): NewEvent {
      const id = toText(item.call_id) ?? "";
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
    /** A command's exit code, which an event before the result carries. */
    keepExit(id: unknown, code: unknown): void {
      if (typeof id === "string" && typeof code === "number" && names.has(id)) exits.set(id, code);
    },
    /** Call and result of an item that a script made; undefined for any other item. */
    nested(item: JsonRecord, at: string | undefined, model: string | undefined): NewEvent[] | undefined {
      const call = toNestedCall(item);
      if (!call) return undefined;
      const shared = { at, tool_name: call.name, tool_use_id: call.id };
      return [
        { ...shared, kind: "tool_use", text: "", model, tool_input: call.input },
        { ...shared, kind: "tool_result", text: call.output, is_error: call.failed },
      ];
    },
    snapshot: (): OpenCalls => ({ names: Object.fromEntries(names), exits: Object.fromEntries(exits) }),
  };
}
