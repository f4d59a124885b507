/** A yes before something is changed or run. */
import { createInterface } from "node:readline/promises";
import type { CommandContext } from "sessarc/terminal";

/** In a terminal the user is asked; elsewhere `--yes` is the answer. */
export async function isConfirmed(ctx: CommandContext, question: string): Promise<boolean> {
  if (ctx.flags.yes === true) return true;
  if (ctx.json || !ctx.tty || process.stdin.isTTY !== true) {
    ctx.err(`${question} Pass --yes to confirm.`);
    return false;
  }
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(?:es)?$/i.test((await terminal.question(`${question} [y/N] `, { signal: ctx.signal })).trim());
  } finally {
    terminal.close();
  }
}
