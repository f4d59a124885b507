/** Questions in a terminal, and flags. */
import { createInterface } from "node:readline/promises";
import { type CommandContext, formatCount, printable } from "sessarc/terminal";

export function textFlag({ flags }: CommandContext, name: string): string | undefined {
  const value = flags[name];
  return typeof value === "string" ? value : undefined;
}

export function listFlag({ flags }: CommandContext, name: string): string[] {
  const value = flags[name];
  return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
}

/** `1 session`, `1,200 sessions`. */
export const countAll = (n: number, noun: string): string => `${formatCount(n)} ${noun}${n === 1 ? "" : "s"}`;

/** True where a user can answer. */
export const canAsk = (ctx: CommandContext): boolean => ctx.tty && process.stdin.isTTY === true && !ctx.json;

export async function ask(ctx: CommandContext, question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return (await terminal.question(printable(question), { signal: ctx.signal })).trim();
  } finally {
    terminal.close();
  }
}

/** In a terminal the user is asked; elsewhere `--yes` is the answer. */
export async function isConfirmed(ctx: CommandContext, question: string): Promise<boolean> {
  if (ctx.flags.yes === true) return true;
  if (!canAsk(ctx)) {
    ctx.err(`${question} Pass --yes to confirm.`);
    return false;
  }
  return /^y(?:es)?$/i.test(await ask(ctx, `${question} [y/N] `));
}
