/** Findings as proposals: shown with masked evidence, with what the line would cost, and only where no instructions say it already and the user has not decided. */
import { createHash } from "node:crypto";
import type { Kernel } from "sessarc";
import { isOf, toSeeds } from "./effect.ts";
import { findMistakes } from "./find/find.ts";
import type { Evidence, Finding } from "./find/finding.ts";
import { readInstructions } from "./instructions/place.ts";
import { isSaid } from "./instructions/said.ts";
import type { OpenProposal } from "./proposal.ts";
import type { ProjectReading } from "./read/project.ts";
import type { AcceptedRow, RuleStore } from "./store.ts";

const MOST_EVIDENCE = 20;
const CHARS_PER_TOKEN = 4;
/** The list mark and the line's end. */
const AROUND = 3;

/** What the line costs at each start of a session. */
export const toTokens = (line: string): number => Math.ceil((line.length + AROUND) / CHARS_PER_TOKEN);

/** A line of the project that was accepted or dismissed. */
type Settled = Pick<AcceptedRow, "project_id" | "kind" | "seeds">;

export async function readProposals(
  kernel: Kernel,
  store: RuleStore,
  project: { id: string; name: string },
  { sessions }: ProjectReading,
  settled: readonly Settled[],
): Promise<OpenProposal[]> {
  const found = findMistakes(sessions);
  if (found.length === 0) return [];
  const folder = await kernel.inject("archive").projectPath(project.id);
  const open: OpenProposal[] = [];
  for (const finding of found) {
    const seeds = toSeeds(finding);
    if (settled.some((row) => row.project_id === project.id && row.kind === finding.kind && isOf(row.seeds, seeds)))
      continue;
    const instructions =
      folder === null ? null : await readInstructions(kernel, folder, await toolsOf(kernel, finding));
    if (instructions && isSaid(instructions.text, finding)) continue;
    const line = await hide(kernel, finding.line);
    // A line without its secret says nothing.
    if (line !== finding.line) continue;
    const id = toId(project.id, finding);
    open.push({
      finding,
      instructions,
      shown: {
        ...{ id, project, kind: finding.kind, line, tokens: toTokens(line), path: instructions?.path ?? null },
        times: finding.evidence.length,
        sessions: new Set(finding.evidence.map(({ session }) => session)).size,
        wasted: finding.evidence.reduce((sum, { tokens }) => sum + tokens, 0),
        evidence: await maskEvidence(kernel, finding.evidence),
        proof: await store.proof(id, line),
      },
    });
  }
  return open;
}

/** Stable while the oldest session that shows the mistake is read. */
function toId(project: string, { kind, evidence }: Finding): string {
  const [first] = evidence.toSorted((a, b) => (String(a.at) < String(b.at) ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([project, kind, first?.session, first?.seq]))
    .digest("hex")
    .slice(0, 8);
}

const hide = async (kernel: Kernel, text: string) => kernel.inject("redactor").hideSecrets(text);

async function maskEvidence(kernel: Kernel, evidence: readonly Evidence[]): Promise<Evidence[]> {
  const newest = evidence.toSorted((a, b) => (String(a.at) < String(b.at) ? 1 : -1)).slice(0, MOST_EVIDENCE);
  return Promise.all(newest.map(async (one) => ({ ...one, text: await hide(kernel, one.text) })));
}

/** The assistants of the sessions that show it. */
async function toolsOf(kernel: Kernel, { evidence }: Finding): Promise<string[]> {
  const archive = kernel.inject("archive");
  const found = await Promise.all([...new Set(evidence.map(({ session }) => session))].map((id) => archive.find(id)));
  return [...new Set(found.flatMap((session) => session?.tool ?? []))];
}
