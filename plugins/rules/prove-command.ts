/** `sessarc rules --prove`: the prompts and the price, then the runs. */
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type CommandContext, printable, send } from "sessarc/terminal";
import { isConfirmed } from "./confirm.ts";
import type { Proof } from "./proof.ts";
import type { Proposal } from "./proposal.ts";
import type { ProofPlan } from "./prove/prove.ts";

const VERDICTS: Readonly<Record<Proof["verdict"], string>> = {
  proved: "proved: the mistake was made without the line and not with it",
  refuted: "refuted: the mistake was made with the line, too",
  "not-shown": "not shown: the mistake was not made without the line either",
};

export const toVerdictText = ({ verdict, usd, trials }: Proof) =>
  `${VERDICTS[verdict]} (${trials.flatMap((trial) => [trial.without, trial.with ?? []].flat()).length} runs, ${usd === null ? "price unknown" : `$${usd.toFixed(4)}`})`;

const ASK_MS = 300;

export async function prove(ctx: CommandContext, proposal: Proposal, command: string): Promise<number> {
  const rule = { id: proposal.id, project: proposal.project.id };
  const plan = await ctx.get<ProofPlan>("/rules/proof", rule, ctx.signal);
  const price = plan.usd === null ? "an unknown price" : `about $${plan.usd.toFixed(4)}`;
  ctx.err(
    [
      `Runs your assistant ${plan.runs} times in a sandbox, for ${price} (what the same prompts cost when they were recorded):`,
      `  ${printable(command)}`,
      ...plan.prompts.map(
        ({ session, seq, text }) =>
          `  ${printable(`${session}#${seq}  ${text.replaceAll(/\s+/g, " ").slice(0, 100)}`)}`,
      ),
    ].join("\n"),
  );
  if (!(await isConfirmed(ctx, "Run it?"))) return 1;
  const texts = (name: string) => [ctx.flags[name] ?? []].flat().filter((value) => typeof value === "string");
  const body = {
    ...{ ...rule, command, confirmCommand: command, network: ctx.flags.network === true, env: texts("env") },
    ...{ readable: texts("readable").map((folder) => resolve(ctx.cwd, folder)) },
    allowUnisolated: ctx.flags["allow-unisolated"] === true,
  };
  await send(ctx, "POST", "/rules/proof", body, ctx.signal);
  const proof = await ended(ctx, rule, plan.runs);
  if (ctx.json) ctx.answer(proof);
  else ctx.out(toVerdictText(proof));
  return proof.verdict === "proved" ? 0 : 1;
}

/** The proof, when it has ended. Ctrl-C ends it. */
async function ended(ctx: CommandContext, rule: { id: string; project: string }, runs: number): Promise<Proof> {
  let shown: number | null = null;
  for (;;) {
    const { run: now, failure, proof } = await ctx.get<ProofPlan>("/rules/proof", rule);
    if (failure !== null) throw new Error(failure);
    if (now === null && proof) return proof;
    if (now !== shown && now !== null && !ctx.json) ctx.err(`Run ${now} of ${runs}`);
    shown = now;
    await delay(ASK_MS, undefined, { signal: ctx.signal }).catch(() => undefined);
    if (ctx.signal.aborted) await send(ctx, "POST", "/rules/proof/stop", { id: rule.id });
  }
}
