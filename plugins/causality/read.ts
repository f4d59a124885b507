/** Reads a stored session for its analysis. */
import type { EventKind, Kernel, Services } from "sessarc";
import { type Causality, type Change, createAnalysis } from "./analyze.ts";

type Row = Awaited<ReturnType<Services["archive"]["get"]>>;

const ANALYZED: ReadonlySet<EventKind> = new Set<EventKind>(["tool_use", "tool_result"]);

/** One pass, chunk by chunk. `take` gets the changes in batches, the result has the last. */
export async function readCausality(
  kernel: Kernel,
  row: Row,
  take: (changes: readonly Change[]) => void,
): Promise<Causality> {
  const archive = kernel.inject("archive");
  const analysis = createAnalysis(archive.adapter(row.tool)?.tools ?? {}, row.cwd ?? "");
  for await (const events of archive.events(row)) {
    for (const event of events) if (ANALYZED.has(event.kind)) analysis.add(event);
    take(analysis.takeChanges());
  }
  return analysis.finish();
}
