/** Whether the code of facts is still there: a fact from the tables has no messages beside it, so those of its turn are read. */
import type { Kernel, Services, SessionEvent } from "sessarc";
import type { Evidence } from "./contract.ts";
import { findCode } from "./state.ts";

/** Messages that are read before the fact, and after it. */
const AROUND = 60;

/** Cost: a chunk or two of messages each, and the files that they name. */
export const withCode = (kernel: Kernel, facts: readonly Evidence[]): Promise<Evidence[]> =>
  Promise.all(
    facts.map(async (fact) => {
      const code = await codeOf(kernel, fact);
      return code ? { ...fact, code } : fact;
    }),
  );

async function codeOf(kernel: Kernel, { session, seq, projectId }: Evidence): Promise<Evidence["code"]> {
  const archive = kernel.inject("archive");
  const [row, root] = await Promise.all([archive.find(session), archive.projectPath(projectId)]);
  return row && root !== null ? findCode(await callsAround(kernel, row, seq), root, row.cwd) : undefined;
}

type Row = Parameters<Services["archive"]["events"]>[0];

/** Calls from the prompt before a message to the next one, as far as 60 messages on each side have them. */
async function callsAround(kernel: Kernel, row: Row, seq: number): Promise<SessionEvent[]> {
  let calls: SessionEvent[] = [];
  for await (const events of kernel.inject("archive").events(row, Math.max(0, seq - AROUND)))
    for (const event of events) {
      if (event.seq > seq + AROUND || (event.kind === "user" && event.seq > seq)) return calls;
      if (event.kind === "user") calls = [];
      else if (event.kind === "tool_use") calls.push(event);
    }
  return calls;
}
