/** Reads a stored session for its analysis. */
import type { EventKind, Kernel, Services } from "sessarc";
import { type Causality, type Change, createAnalysis } from "./analyze.ts";

type Row = Parameters<Services["archive"]["ref"]>[0];

const ANALYZED: ReadonlySet<EventKind> = new Set<EventKind>(["tool_use", "tool_result"]);

/** One pass, chunk by chunk; only the fields that matter are read. `take` gets the changes in batches, the result has the last. */
export async function readCausality(
  kernel: Kernel,
  row: Row,
  take: (changes: readonly Change[]) => void,
): Promise<Causality> {
  const archive = kernel.inject("archive");
  const analysis = createAnalysis(archive.adapter(row.tool)?.tools ?? {}, row.cwd ?? "");
  for await (const chunk of archive.chunks(row)) {
    for (let i = 0; i < chunk.count; i++) if (ANALYZED.has(chunk.kind(i))) analysis.add(chunk.lazy(i));
    take(analysis.takeChanges());
  }
  return analysis.finish();
}
