/** Evidence with the commits that took what was written in its turn. */
import type { Kernel } from "sessarc";
import { within } from "../within.ts";
import type { Evidence } from "./contract.ts";

/** A question waits no longer for git. The commits are known when it is asked again. */
const LIMIT_MS = 150;

/** The same without commits where there is no blame, no repository, or no time. */
export async function withCommits(kernel: Kernel, evidence: readonly Evidence[]): Promise<readonly Evidence[]> {
  const blame = kernel.find("blame");
  if (!blame || evidence.length === 0) return evidence;
  const commits = await within(LIMIT_MS, blame.takenBy(evidence.map(({ session, seq }) => ({ session, seq }))));
  if (!commits) return evidence;
  return evidence.map((one, i) => {
    const commit = commits[i]?.hash;
    return commit === undefined ? one : { ...one, commit };
  });
}
