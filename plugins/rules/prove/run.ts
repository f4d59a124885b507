/** One proof: old prompts given to the user's own assistant in a sandbox, without the line and with it. */
import { basename } from "node:path";
import { type Kernel, type Services, SessarcError } from "sessarc";
import { addLine } from "../instructions/lines.ts";
import { type Proof, type Trial, type TrialRun, toVerdict } from "../proof.ts";
import type { OpenProposal } from "../proposal.ts";
import { judgeLogs } from "./judge.ts";
import type { OldPrompt } from "./plan.ts";

/** What a run in the sandbox takes, without what only further prompts need. */
export type ProofRequest = Omit<Parameters<Services["replay"]["startRerun"]>[1], "followUp">;

const DOLLAR = 1e6;
const STDERR = 500;

/** Runs one after another; `onRun` is called before each. Throws RULE_PROOF_FAILED, and what keeps a command from running. */
export async function runProof(
  kernel: Kernel,
  { shown, finding, instructions }: OpenProposal,
  request: ProofRequest,
  prompts: readonly OldPrompt[],
  { onRun, signal }: { onRun(): void; signal: AbortSignal },
): Promise<Proof> {
  const name = basename(instructions?.path ?? "AGENTS.md");
  const tryOnce = async (prompt: OldPrompt, edit: (text: string) => string): Promise<TrialRun> => {
    onRun();
    const asked = { ...request, seq: prompt.seq, file: { name, edit } };
    const { result, home } = await kernel.inject("replay").trial(prompt.session, asked, signal);
    signal.throwIfAborted();
    const [turn] = result.turns;
    if (turn?.exitCode !== 0) {
      const how = turn?.ended ?? `exit code ${turn?.exitCode}`;
      throw failure(`the assistant failed (${how}): ${turn?.stderr.trim().slice(-STDERR)}`);
    }
    const failed = await judgeLogs(kernel, home, finding.mistake);
    if (failed === undefined) throw failure("the assistant left no log in its home that sessarc reads");
    const { printedUsd, cost, ms } = result.run;
    const computed = cost === null || cost.unpriced.length > 0 ? null : cost.microdollars / DOLLAR;
    return { failed, usd: printedUsd ?? computed, ms: Math.round(ms) };
  };
  const trials: Trial[] = [];
  for (const prompt of prompts) {
    const without = await tryOnce(prompt, (text) => text);
    const withLine = (text: string) => addLine(text, shown.line, { lines: [], heading: false }).text;
    const { session, seq } = prompt;
    trials.push({ session, seq, without, with: without.failed ? await tryOnce(prompt, withLine) : null });
  }
  const costs = trials.flatMap((trial) => [trial.without.usd, ...(trial.with ? [trial.with.usd] : [])]);
  const usd = costs.reduce<number | null>((sum, one) => (sum === null || one === null ? null : sum + one), 0);
  const at = new Date().toISOString();
  return { at, command: request.command, verdict: toVerdict(trials), trials, usd };
}

const failure = (reason: string) => new SessarcError("RULE_PROOF_FAILED", { reason });
