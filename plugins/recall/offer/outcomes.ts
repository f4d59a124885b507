/** How the last sessions of a project ended: tasks that are open, and how each family of commands went last. */
import { BoundedMap, type Kernel } from "sessarc";
import { createTodos, toCommand } from "sessarc/adapter";
import { normalizeCommand } from "../facts/command.ts";

export interface Outcome {
  todos: readonly string[];
  /** Families of commands whose last run in the session failed, or worked. */
  last: ReadonlyMap<string, "failed" | "worked">;
}

/** Messages that are read, from the end. */
const MOST = 5_000;
const MOST_OPEN = 256;

/** Reads sessions; one that did not change since is not read again. */
export function createOutcomes(kernel: Kernel) {
  const known = new BoundedMap<string, { parts: string; outcome: Outcome }>(100);

  async function read(id: string): Promise<Outcome> {
    const archive = kernel.inject("archive");
    const row = await archive.find(id);
    if (!row) return { todos: [], last: new Map() };
    const parts = JSON.stringify(row.parts);
    const before = known.get(id);
    if (before?.parts === parts) return before.outcome;
    const tools = archive.adapter(row.tool)?.tools ?? {};
    const todos = createTodos();
    const open = new BoundedMap<string, string>(MOST_OPEN);
    const last = new Map<string, "failed" | "worked">();
    for await (const events of archive.events(row, Math.max(0, row.length - MOST)))
      for (const { kind, tool_name: tool = "", tool_use_id: call = "", tool_input: input, is_error } of events) {
        const role = Object.hasOwn(tools, tool) ? tools[tool] : undefined;
        if (kind === "tool_use" && role === "todo") todos.add(input);
        else if (kind === "tool_use" && role === "shell") {
          const family = normalizeCommand(toCommand(input))?.family;
          if (family !== undefined) open.set(call, family);
        } else if (kind === "tool_result") {
          const family = open.get(call);
          if (family !== undefined) last.set(family, is_error === true ? "failed" : "worked");
        }
      }
    const outcome: Outcome = { todos: todos.open(), last };
    known.set(id, { parts, outcome });
    return outcome;
  }
  return { read };
}
export type Outcomes = ReturnType<typeof createOutcomes>;
