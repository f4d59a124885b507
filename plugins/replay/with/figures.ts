/** What an assistant's run cost: from the logs it left in the sandbox's home, and from what it printed. */
import type { Kernel, SessionUsage } from "sessarc";
import { mergeUsage } from "sessarc/adapter";

/** Sums up the sessions of all assistants' logs below `home`. */
export async function loggedUsage(kernel: Kernel, home: string): Promise<SessionUsage | null> {
  const env = { home, platform: kernel.env.platform, env: {} };
  const usage: SessionUsage = {};
  let found = false;
  for (const adapter of kernel.registry.adapters.values()) {
    for (const root of adapter.roots(env)) {
      for await (const ref of adapter.scan(root, env)) {
        const reading = adapter.read(ref, env);
        let next = await reading.next();
        while (!next.done) next = await reading.next();
        mergeUsage(usage, next.value.usage);
        found = true;
      }
    }
  }
  return found ? usage : null;
}

const COST_NAMES = ["total_cost_usd", "cost_usd"] as const;

/** The cost in JSON that the assistant printed, whole or a line at a time: of several the last, which sums up those before. */
export function printedCost(output: string): number | null {
  const candidates = [output, ...output.split("\n").toReversed()];
  for (const text of candidates) {
    if (!COST_NAMES.some((name) => text.includes(name))) continue;
    const value = parse(text.trim());
    const cost = COST_NAMES.map((name) => value?.[name]).find((one) => typeof one === "number");
    if (typeof cost === "number") return cost;
  }
  return null;
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const last: unknown = Array.isArray(value) ? value.at(-1) : value;
    return typeof last === "object" && last !== null ? { ...last } : undefined;
  } catch {
    return undefined; // no JSON: a text that mentions the name
  }
}
