/** Hooks over hookable: `callHook` for hooks that may change or stop something, `notify` for those that only inform. */
import { type Hookable, createHooks as makeHookable } from "hookable";
import type { KernelHooks } from "../contract/kernel.ts";
import { isSessarcError, SessarcError } from "../errors/error.ts";
import { type MaybePromise, toMessage, withLimit } from "../utils/async.ts";
import { printable } from "../utils/printable.ts";
import { asLine } from "./doctor.ts";
import { type Owner, owned, ownerNow } from "./stray.ts";

export type Hooks = Hookable<KernelHooks>;
export type Notify = <K extends keyof KernelHooks>(name: K, ...args: Parameters<KernelHooks[K]>) => Promise<void>;

/** Limits of a listener of a plugin that is not built in, in ms: at the start and the end of a kernel, and anywhere else. */
export interface HookLimits {
  startMs: number;
  otherMs: number;
}

export function createHooks(limits: HookLimits): { hooks: Hooks; notify: Notify } {
  const hooks = makeHookable<KernelHooks>();
  const add = hooks.hook.bind(hooks);
  // `addHooks` comes here, too.
  hooks.hook = (name, listener, options) => {
    const owner = ownerNow();
    const limited = owner && listener ? bounded(owner, name, listener, limits) : listener;
    return add(name, name === "doctor:check" ? (asLine(limited as never, owner?.plugin) as never) : limited, options);
  };

  /** One listener after the other; an error of one is emitted on `listener:failed` and does not stop the others. */
  async function isolated(listeners: readonly ((...args: never[]) => unknown)[], args: unknown[], name: string) {
    for (const listener of listeners) {
      try {
        await (listener as (...args: unknown[]) => MaybePromise<void>)(...args);
      } catch (error) {
        // An error of a listener of listener:failed can only go to stderr.
        if (name === "listener:failed") process.stderr.write(`${printable(String(error))}\n`);
        else await notify("listener:failed", error, { hook: name });
      }
    }
  }

  const notify: Notify = async (name, ...args) => {
    await hooks.callHookWith(isolated, name, args);
  };
  return { hooks, notify };
}

/** The listener with a time limit; PLUGIN_TIMEOUT and PLUGIN_FAILED name plugin, file and hook. An error of the catalogue stays what it is. */
function bounded<Listener extends (...args: never[]) => unknown>(
  owner: Owner,
  name: string,
  listener: Listener,
  { startMs, otherMs }: HookLimits,
): Listener {
  const step = `hook ${name}`;
  const ms = /^(?:kernel|doctor):/.test(name) ? startMs : otherMs;
  const run = owned(owner, step, listener);
  const limited = async (...args: never[]) => {
    let result: unknown;
    try {
      await withLimit(
        ms,
        () => new SessarcError("PLUGIN_TIMEOUT", { ...owner, step, ms }),
        async () => {
          result = await run(...args);
        },
      );
    } catch (cause) {
      if (isSessarcError(cause)) throw cause;
      throw new SessarcError("PLUGIN_FAILED", { ...owner, step, reason: toMessage(cause) }, { cause });
    }
    return result;
  };
  return limited as unknown as Listener;
}
