/** Hooks over hookable: `callHook` for hooks that may change or stop something, `notify` for those that only inform. */
import { type Hookable, createHooks as makeHookable } from "hookable";
import type { KernelHooks } from "../contract/kernel.ts";
import type { MaybePromise } from "../utils/async.ts";
import { printable } from "../utils/printable.ts";

export type Hooks = Hookable<KernelHooks>;
export type Notify = <K extends keyof KernelHooks>(name: K, ...args: Parameters<KernelHooks[K]>) => Promise<void>;

export function createHooks(): { hooks: Hooks; notify: Notify } {
  const hooks = makeHookable<KernelHooks>();

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
