/** From loaded plugins to the order they start in, and one step of a start. */
import { isSessarcError, SessarcError } from "../errors/error.ts";
import { toMessage, withLimit } from "../utils/async.ts";
import type { LoadedPlugin } from "./load.ts";
import type { Owner } from "./stray.ts";

/**
 * Every plugin after those it depends on, otherwise in the given order. PLUGIN_MISSING and PLUGIN_CYCLE name the chain
 * that led there.
 */
export function sortPlugins(list: readonly LoadedPlugin[]): LoadedPlugin[] {
  const byName = new Map(list.map((it) => [it.plugin.name, it]));
  const sorted = new Set<LoadedPlugin>();

  function visit(it: LoadedPlugin, chain: readonly string[]): void {
    const { name, dependsOn = [] } = it.plugin;
    if (chain.includes(name)) {
      throw new SessarcError("PLUGIN_CYCLE", { chain: [...chain.slice(chain.indexOf(name)), name] });
    }
    if (sorted.has(it)) return;
    for (const needed of dependsOn) {
      const next = byName.get(needed);
      if (!next) throw new SessarcError("PLUGIN_MISSING", { name: needed, chain: [...chain, name, needed] });
      visit(next, [...chain, name]);
    }
    sorted.add(it);
  }

  for (const it of list) visit(it, []);
  return [...sorted];
}

/** One step of a plugin's start. What it throws is PLUGIN_FAILED with the cause; when it takes longer than `ms`, PLUGIN_TIMEOUT. */
export async function runStep(owner: Owner, step: string, ms: number | undefined, run: () => unknown): Promise<void> {
  let late: SessarcError | undefined;
  const tooLate = (limit: number) => {
    late = new SessarcError("PLUGIN_TIMEOUT", { ...owner, step, ms: limit });
    return late;
  };
  try {
    await (ms === undefined ? run() : withLimit(ms, () => tooLate(ms), run));
  } catch (cause) {
    if (late && cause === late) throw late;
    const remedy = isSessarcError(cause) ? cause.fix : undefined;
    throw new SessarcError("PLUGIN_FAILED", { ...owner, step, reason: toMessage(cause), remedy }, { cause });
  }
}
