/** The answer to a question: the best evidence of the archive within a number of tokens, or none. The same for the same archive. */
import type { Kernel } from "sessarc";
import { findFacts, type StoredFact } from "../facts/facts.ts";
import { type AskStats, type Candidate, findCandidates } from "./candidates.ts";
import { withCommits } from "./commits.ts";
import type { Answer, Ask } from "./contract.ts";
import { withFixes } from "./fixes.ts";
import { projectAround } from "./near.ts";
import { render } from "./render.ts";
import { showFacts, toEvidence } from "./show.ts";
import { type Asked, toAsked } from "./terms.ts";
import { withCode } from "./turn.ts";

const TOKENS = 600;
const [LEAST, MOST] = [50, 8_000];
/** Evidence that covers a smaller share of the question is left out. */
const GOOD = 0.35;
/** Of the best evidence: what is much worse is not shown beside it. */
const BESIDE = 0.62;
/** What a second and a third piece of one session are worth. */
const AGAIN = 0.8;
/** The same project, and what was active last. */
const NEAR = 1.12;
const RECENT = 0.06;
const HALF_MS = 90 * 86_400_000;
/** Pieces of evidence that are made ready, whatever fits. */
const PIECES = 12;

export async function answer(kernel: Kernel, ask: Ask, onEnd?: (stats: AskStats) => void): Promise<Answer> {
  const tokens = Math.max(LEAST, Math.min(MOST, ask.tokens ?? TOKENS));
  const here = ask.near === undefined ? undefined : await projectAround(kernel, ask.near);
  const facts = await knownFacts(kernel, ask, here);
  const asked = toAsked(
    [ask.question, ask.error, ask.command, ask.file].filter((part) => part !== undefined).join("\n"),
  );
  const known = await showFacts(kernel, facts, asked.terms);
  const rest = known.length < PIECES ? await search(kernel, ask, asked, here, onEnd) : [];
  const isKnown = new Set(known.map(({ session, seq }) => `${session} ${seq}`));
  const evidence = [...known, ...(await toEvidence(kernel, rest, asked.terms))].filter(
    ({ session, seq }, i) => i < known.length || !isKnown.has(`${session} ${seq}`),
  );
  // Messages, files and git are read for what is shown alone.
  const { evidence: shown } = render(evidence, tokens);
  const coded = await withCode(kernel, shown.slice(0, known.length));
  const fixed = await withFixes(kernel, [...coded, ...shown.slice(known.length)]);
  return render(await withCommits(kernel, fixed), tokens);
}

export async function warmUp(kernel: Kernel): Promise<void> {
  // No chunk is worth anything: the list of sessions is read, and none of their messages.
  for await (const _ of kernel.inject("archive").promising({ terms: [], weigh: () => 0 })) break;
  await kernel.inject("rules").warmUp();
}

/** What the tables know of a command or a file, the most telling first. */
async function knownFacts(
  kernel: Kernel,
  { command, file, projectIds }: Ask,
  here: string | undefined,
): Promise<StoredFact[]> {
  if (command === undefined && file === undefined) return [];
  const found = await findFacts(kernel, { subject: command, file, limit: 200 });
  const facts = found.filter((fact) => projectIds === undefined || projectIds.includes(fact.projectId));
  const isHere = (fact: StoredFact) => (fact.projectId === here ? 1 : 0);
  // What was fixed says what to do; a failure that nothing fixed says what not to do.
  const worth = ({ kind, other }: StoredFact) =>
    kind === "corrected" ? 4 : kind === "fixed" ? 3 : kind === "decided" ? 2 : other === null ? 1 : 0;
  const sorted = facts.toSorted((a, b) => isHere(b) - isHere(a) || worth(b) - worth(a));
  return sorted
    .filter(({ kind, other }) => kind !== "failed" || other === null || command !== undefined)
    .slice(0, PIECES);
}

async function search(
  kernel: Kernel,
  ask: Ask,
  asked: Asked,
  here: string | undefined,
  onEnd?: (stats: AskStats) => void,
): Promise<Candidate[]> {
  if (asked.terms.length === 0) return [];
  const wants = ask.error === undefined ? asked.wants : new Set([...asked.wants, "failed", "fixed"]);
  const projects = ask.projectIds === undefined ? undefined : new Set(ask.projectIds);
  const { candidates } = await findCandidates(kernel, { ...asked, wants }, projects, onEnd);
  return choose(candidates, here);
}

/** The best of each turn; of a session more than one only where they are much better than others. */
function choose(candidates: readonly Candidate[], here: string | undefined): Candidate[] {
  const newest = candidates.reduce((last, { sortAt }) => Math.max(last, sortAt), 0);
  const weighed = candidates
    .filter(({ whole }) => whole >= GOOD)
    .map((one) => {
      const recent = 1 + RECENT * 2 ** (-(newest - one.sortAt) / HALF_MS);
      return { ...one, score: one.score * recent * (one.projectId === here ? NEAR : 1) };
    });
  const chosen: Candidate[] = [];
  const turns = new Set<string>();
  const counts = new Map<string, number>();
  const left = [...weighed];
  while (left.length > 0 && chosen.length < PIECES) {
    const worth = ({ session, score }: Candidate) => score * AGAIN ** (counts.get(session) ?? 0);
    const one = left.reduce((best, other) => (worth(other) > worth(best) ? other : best));
    left.splice(left.indexOf(one), 1);
    if (turns.has(one.turn)) continue;
    const [first] = chosen;
    if (first && worth(one) < BESIDE * first.score) break;
    chosen.push(one);
    turns.add(one.turn);
    counts.set(one.session, (counts.get(one.session) ?? 0) + 1);
  }
  return chosen;
}
