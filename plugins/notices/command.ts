/** `sessarc waiting`: who waits, for a person to read. */
import type { CommandContext } from "sessarc/terminal";
import type { WaitingEntry } from "./waiting.ts";

export async function run(ctx: CommandContext): Promise<number> {
  const waiting = await ctx.get<WaitingEntry[]>("/waiting");
  if (ctx.json) ctx.out(JSON.stringify(waiting));
  else if (waiting.length === 0) ctx.err("No assistant waits for you");
  else for (const { text, since } of waiting) ctx.out(`${text} (since ${since})`);
  return waiting.length > 0 ? 0 : 3;
}
