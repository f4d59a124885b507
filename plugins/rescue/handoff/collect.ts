/** What a brief needs of a session, from one pass over its messages. */
import type { SessionEvent } from "sessarc";
import { createTodos, type ToolRole, toCommand } from "sessarc/adapter";

interface Collected {
  first: SessionEvent | undefined;
  last: SessionEvent | undefined;
  /** The assistant's last words. */
  reply: SessionEvent | undefined;
  /** Replies with a sentence that decides something, the newest last. */
  decided: SessionEvent[];
  /** A command that failed and did not succeed since, with its output. */
  failed: { command: SessionEvent; result: SessionEvent } | undefined;
  todos: string[];
}

const MOST_DECIDED = 20;

/** A line that states a decision, in the languages of the dashboard and German. */
export const DECISION =
  /\b(decid(?:e|ed|ing|sion)|I(?:'|’)ll (?:use|keep|go with)|(?:let(?:'|’)s|we(?:'|’)ll) (?:use|keep|go with)|instead of|entschieden|Entscheidung|stattdessen|nehme ich)\b|決定|ことにし|代わりに|决定|改用|而不是/i;

export function createCollector(tools: Readonly<Record<string, ToolRole>>) {
  const found: Collected = {
    first: undefined,
    last: undefined,
    reply: undefined,
    decided: [],
    failed: undefined,
    todos: [],
  };
  /** Shell calls whose result is still out, by call id. */
  const running = new Map<string, SessionEvent>();
  const todos = createTodos();

  function called(event: SessionEvent): void {
    const role = tools[event.tool_name ?? ""];
    if (role === "shell" && event.tool_use_id !== undefined) running.set(event.tool_use_id, event);
    if (role === "todo") todos.add(event.tool_input);
  }

  function answered(event: SessionEvent): void {
    const call = running.get(event.tool_use_id ?? "");
    if (!call) return;
    running.delete(event.tool_use_id ?? "");
    if (event.is_error) found.failed = { command: call, result: event };
    else if (found.failed && toCommand(found.failed.command.tool_input) === toCommand(call.tool_input))
      found.failed = undefined;
  }

  return {
    add(event: SessionEvent): void {
      if (event.kind === "user") {
        found.first ??= event;
        found.last = event;
      } else if (event.kind === "assistant") {
        if (event.text.trim() !== "") found.reply = event;
        if (DECISION.test(event.text)) {
          found.decided.push(event);
          if (found.decided.length > MOST_DECIDED) found.decided.shift();
        }
      } else if (event.kind === "tool_use") called(event);
      else if (event.kind === "tool_result") answered(event);
    },
    finish(): Collected {
      found.todos = todos.open();
      return found;
    },
  };
}
