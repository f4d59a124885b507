/** An update on a terminal: the risks first, then the diff. */
import { type CommandContext, createStyle, printable } from "sessarc/terminal";
import type { UpdatePlan } from "../ops/update.ts";

/** `out` gets what was done or would be, `err` what to know about it. */
export function showPlan(ctx: CommandContext, id: string, plan: UpdatePlan): void {
  const name = printable(id);
  if (plan.problem !== null) ctx.err(`${name} cannot be updated: ${printable(plan.problem)}`);
  else if (plan.applied) {
    for (const risk of plan.risks) ctx.err(riskText(risk));
    ctx.out(`Updated ${name} to ${plan.commit.slice(0, 12)}`);
  } else if (plan.changed) showChange(ctx, name, plan);
  else {
    const moved = plan.commit !== plan.recorded;
    ctx.out(`${name} is up to date${moved ? "; other files of the repository have changed" : ""}`);
  }
}

function showChange(ctx: CommandContext, name: string, plan: UpdatePlan): void {
  const style = createStyle(ctx.colour);
  for (const risk of plan.risks) ctx.out(style.bold(riskText(risk)));
  for (const path of plan.conflicts) ctx.out(style.bold(`! conflict  ${printable(path)}: changed here and upstream`));
  for (const { path, status, diff } of plan.files) {
    ctx.out(`${status} ${printable(path)}`);
    if (diff !== null) for (const line of diff.split("\n")) ctx.out(style.dim(printable(line)));
  }
  ctx.err(`Nothing was written. \`sessarc skills update ${name} --yes\` does it.`);
}

const riskText = ({ kind, path, detail }: UpdatePlan["risks"][number]) =>
  `! ${kind}  ${printable(path)}: ${printable(detail)}`;
