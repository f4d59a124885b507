/**
 * Uncaught errors: of a promise that is not awaited, in a timer or a listener. Without this they would end the service. Their owner is found
 * by what was running when the promise or the timer was made, else by the files in the error's stack.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { PluginProblem } from "../contract/reports.ts";
import { SessarcError } from "../errors/error.ts";
import { toMessage } from "../utils/async.ts";
import { inSection } from "./watchdog.ts";

export interface Owner {
  plugin: string;
  /** Where it was loaded from; undefined for one that was passed as an object. */
  file: string | undefined;
}

/** The plugin whose code runs. Used for plugins of others alone: it makes each promise of the process a little dearer. */
const running = new AsyncLocalStorage<Owner>();

/** A function of a plugin (`member`); what it leaves behind is known as that plugin's. */
export function owned<A extends unknown[], R>(owner: Owner, member: string, run: (...args: A) => R): (...args: A) => R {
  return (...args) => running.run(owner, () => inSection({ ...owner, member }, () => run(...args)));
}

/** The plugin of others whose code runs. */
export const ownerNow = (): Owner | undefined => running.getStore();

/** `sources`: where third-party plugins were loaded from. Undefined when the owner is unknown. */
export function strayProblem(error: unknown, sources: ReadonlyMap<string, string>): PluginProblem | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const plugin = running.getStore()?.plugin ?? [...sources].find(([, specifier]) => stack.includes(specifier))?.[0];
  if (plugin === undefined) return undefined;
  const { code, message, fix } = new SessarcError("PLUGIN_LEFT_ERROR", { plugin, reason: toMessage(error) });
  return { plugin, code, message, fix: fix ?? null };
}
