/** What the first call that a hook asks about needs: compiled rules (12 MB), the parser of shell lines, the engine of a search's expression. */
import type { Kernel } from "sessarc";
import { expressions } from "../secrets/match/expressions.ts";

export async function warmGuard(kernel: Kernel): Promise<void> {
  await Promise.all([kernel.inject("rules").warmUp(), import("./taint/analysis.ts")]);
  expressions();
}
