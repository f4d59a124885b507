/** Proofs under way: one for a rule. A run may take minutes, so no request waits for its end. */
import { type Kernel, SessarcError, toMessage } from "sessarc";
import type { Proof } from "../proof.ts";
import type { OpenProposal } from "../proposal.ts";
import type { RuleStore } from "../store.ts";
import { choosePrompts, type OldPrompt, RUNS } from "./plan.ts";
import { type ProofRequest, runProof } from "./run.ts";

/** What a proof would do, and how it stands. */
export interface ProofPlan {
  id: string;
  line: string;
  /** The old prompts, secrets masked, with what each cost when it was recorded (US dollars). */
  prompts: { session: string; seq: number; text: string; usd: number | null }[];
  /** How often the assistant is started at most. */
  runs: number;
  /** US dollars of all runs, if each costs what its prompt cost when it was recorded; null where a price is unknown. */
  usd: number | null;
  /** The run that is under way, 0 before the first; null when no proof is under way. */
  run: number | null;
  /** Why the last proof broke off; null when it did not. */
  failure: string | null;
  proof: Proof | null;
}

const DOLLAR = 1e6;
const toUsd = (microdollars: number | null) => (microdollars === null ? null : microdollars / DOLLAR);

export function createProofs(kernel: Kernel, store: RuleStore) {
  const running = new Map<string, { run: number; plan: ProofPlan; stop: AbortController; done: Promise<void> }>();
  const failures = new Map<string, string>();
  kernel.onClose(() => Promise.all([...running.values()].map(({ done }) => done)).then(() => undefined));

  async function toPlan({ shown }: OpenProposal, prompts: readonly OldPrompt[]): Promise<ProofPlan> {
    const { hideSecrets } = kernel.inject("redactor");
    const costs = prompts.map(({ microdollars }) => microdollars);
    const sum = costs.reduce<number | null>((all, one) => (all === null || one === null ? null : all + one), 0);
    return {
      ...{ id: shown.id, line: shown.line, runs: prompts.length * RUNS, usd: toUsd(sum === null ? null : sum * RUNS) },
      prompts: await Promise.all(
        prompts.map(async ({ session, seq, text, microdollars }) => {
          return { session, seq, text: await hideSecrets(text), usd: toUsd(microdollars) };
        }),
      ),
      run: running.get(shown.id)?.run ?? null,
      failure: failures.get(shown.id) ?? null,
      proof: await store.proof(shown.id, shown.line),
    };
  }

  return {
    /** The plan of a proof that is under way: nothing is read again for it. */
    current(id: string): ProofPlan | undefined {
      const found = running.get(id);
      return found && { ...found.plan, run: found.run };
    },
    plan: async (proposal: OpenProposal) => toPlan(proposal, await choosePrompts(kernel, proposal.finding)),
    /** Begins a proof. Throws before anything is run: RULE_PROOF_NOT_CONFIRMED, RULE_PROOF_RUNNING, RULE_NOT_PROVABLE. */
    async start(proposal: OpenProposal, request: ProofRequest): Promise<{ started: true }> {
      const { id, project, line } = proposal.shown;
      const { command, confirmCommand } = request;
      if (confirmCommand !== command)
        throw new SessarcError("RULE_PROOF_NOT_CONFIRMED", { command, given: confirmCommand !== undefined });
      const prompts = await choosePrompts(kernel, proposal.finding);
      const plan = { ...(await toPlan(proposal, prompts)), failure: null, proof: null };
      if (running.has(id)) throw new SessarcError("RULE_PROOF_RUNNING", { id });
      failures.delete(id);
      const stop = new AbortController();
      const one = { run: 0, plan, stop, done: Promise.resolve() };
      running.set(id, one);
      const progress = { onRun: () => void one.run++, signal: stop.signal };
      one.done = runProof(kernel, proposal, request, prompts, progress)
        .then((proof) => store.prove(id, project.id, line, proof))
        .catch(async (error: unknown) => {
          failures.set(id, stop.signal.aborted ? "The proof was stopped." : toMessage(error));
          // A SessarcError is for the user alone; anything else is a bug in sessarc.
          const isOurs = !stop.signal.aborted && !kernel.closing.aborted && !(error instanceof SessarcError);
          if (isOurs) await kernel.notify("listener:failed", error, { hook: "rules" });
        })
        .finally(() => running.delete(id));
      return { started: true };
    },
    async stop(id: string): Promise<{ stopped: boolean }> {
      const found = running.get(id);
      found?.stop.abort();
      await found?.done;
      return { stopped: found !== undefined };
    },
  };
}
