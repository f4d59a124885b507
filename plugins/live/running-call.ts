/** The call of a session that runs now: it was made, and neither its result nor anything else of the conversation followed. */
import type { SessionEvent } from "sessarc";
import { mainArgument } from "sessarc/adapter";

export interface RunningCall {
  /** The tool's name, as the assistant has it. */
  tool: string;
  /** The argument that says most, in one line of 160 characters at most; empty where none does. */
  argument: string;
  /** When it was made, ISO 8601 UTC; null where the log has no times. */
  at: string | null;
}

const ARGUMENT = 160;

export function createRunningCalls() {
  /** By the call's id, in their order. */
  const open = new Map<string, RunningCall>();
  return {
    add({ kind, tool_name, tool_use_id = "", tool_input, at }: SessionEvent): void {
      if (kind === "tool_use") {
        const argument = mainArgument(tool_input).replace(/\s+/g, " ").trim().slice(0, ARGUMENT);
        open.delete(tool_use_id);
        open.set(tool_use_id, { tool: tool_name ?? "", argument, at: at ?? null });
      } else if (kind === "tool_result" && tool_use_id !== "") open.delete(tool_use_id);
      // A result without an id answers the calls before it; after the next prompt or answer nothing runs of what was called before.
      else if (kind !== "note" && kind !== "thinking") open.clear();
    },
    clear: () => open.clear(),
    /** The newest of those that run. */
    last: (): RunningCall | undefined => [...open.values()].at(-1),
  };
}
