/** Questions to the user. */
import { createInterface } from "node:readline/promises";
import { type CommandContext, printable } from "sessarc/terminal";

/** Shows `text` and waits for a yes. */
export async function isConfirmed(ctx: CommandContext, text: string): Promise<boolean> {
  const ask = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await ask.question(`${printable(text)}\n[y/N] `, { signal: ctx.signal });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    ask.close();
  }
}
