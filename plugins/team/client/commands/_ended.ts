/** What ended beside the machine or person that was named. */
import { type CommandContext, printable } from "sessarc/terminal";
import { countAll } from "./_ask.ts";

interface Ended {
  invitations: number;
  tokens: number;
}

export function reportEnded(
  ctx: Pick<CommandContext, "out">,
  { invitations, tokens }: Ended,
  machines: readonly { id: string; name: string }[],
): void {
  for (const { id, name } of machines) ctx.out(printable(`  ended: ${name} (${id})`));
  const parts = [
    ...(invitations > 0 ? [countAll(invitations, "invitation")] : []),
    ...(tokens > 0 ? [countAll(tokens, "read token")] : []),
  ];
  if (parts.length > 0) ctx.out(`  ended: ${parts.join(", ")}`);
}
