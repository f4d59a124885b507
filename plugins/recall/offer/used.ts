/** Whether an assistant used what was offered: one of its next calls touches a path or runs a command that the line names. */
import type { Kernel, SessionEvent } from "sessarc";
import { pathsIn, type ToolRole, toCommand } from "sessarc/adapter";
import { normalizeCommand } from "../facts/command.ts";
import type { OfferStore } from "./store.ts";

/** Calls after the line that count. */
const NEXT_CALLS = 20;
/** Messages that are read, from the end. */
const MOST = 2_000;

/** Checks the calls of an imported session against its lines whose use is not known. */
export async function markUsed(kernel: Kernel, store: OfferStore, session: string): Promise<void> {
  const open = await store.open(session);
  if (open.length === 0) return;
  const archive = kernel.inject("archive");
  const row = await archive.find(session);
  if (!row) return;
  const tools = archive.adapter(row.tool)?.tools ?? {};
  const calls: SessionEvent[] = [];
  const earliest = Math.min(...open.map(({ at }) => at));
  for await (const events of archive.events(row, Math.max(0, row.length - MOST)))
    for (const event of events)
      if (event.kind === "tool_use" && Date.parse(event.at ?? "") > earliest) calls.push(event);
  for (const { line, at, names } of open) {
    const next = calls.filter((call) => Date.parse(call.at ?? "") > at).slice(0, NEXT_CALLS);
    const used = next.some(({ tool_name: tool = "", tool_input: input }) =>
      touches(input, Object.hasOwn(tools, tool) ? tools[tool] : undefined, names),
    );
    // Without a use it may still come.
    if (used || next.length === NEXT_CALLS) await store.mark(session, line, used);
  }
}

function touches(input: SessionEvent["tool_input"], role: ToolRole | undefined, names: readonly string[]): boolean {
  if (role === "shell") {
    const command = toCommand(input);
    const subject = normalizeCommand(command)?.subject;
    return names.some(
      (name) => command.includes(name) || (subject !== undefined && normalizeCommand(name)?.subject === subject),
    );
  }
  const paths = pathsIn(input, role);
  return names.some((name) =>
    paths.some((path) => path === name || path.endsWith(`/${name}`) || name.endsWith(`/${path}`)),
  );
}
