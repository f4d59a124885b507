/** The log as it may be shown: no value of a service's secrets, and nothing the security rules take for one. */
import { isRecord, type Kernel } from "sessarc";
import type { Registry } from "../registry/registry.ts";
import { hideValues, toSecrets } from "../vault/mask.ts";
import type { LogEntry } from "./log.ts";

export async function shownEntries(
  kernel: Kernel,
  registry: Registry,
  entries: readonly LogEntry[],
): Promise<LogEntry[]> {
  const secrets = (await registry.list()).flatMap(toSecrets);
  const rules = kernel.inject("rules");
  const clean = (text: string) => rules.hide(hideValues(text, secrets));

  async function cleaned(value: unknown): Promise<unknown> {
    if (typeof value === "string") return value.length < 6 ? value : clean(value);
    if (Array.isArray(value)) return Promise.all(value.map(cleaned));
    if (!isRecord(value)) return value;
    const pairs = Object.entries(value).map(async ([key, item]) => {
      // Beside its name a value says more about itself than alone.
      if (typeof item === "string" && item.length >= 6) {
        const text = await clean(`${key}: ${item}`);
        return [key, text.startsWith(`${key}: `) ? text.slice(key.length + 2) : await clean(item)] as const;
      }
      return [key, await cleaned(item)] as const;
    });
    return Object.fromEntries(await Promise.all(pairs));
  }

  return Promise.all(entries.map(async (entry) => ({ ...entry, payload: await cleaned(entry.payload) })));
}
