/** Subscriptions outlive the connection they were made over: a service that crashed or was changed is asked for them again. */
import { decideService } from "../policy/policy.ts";
import type { Registry } from "../registry/registry.ts";
import { waitAfter } from "../upstream/slots.ts";
import type { ServiceProxy } from "./proxy.ts";
import type { Subscribers } from "./subscribers.ts";

interface Renewal {
  /** A connection is gone that these addresses of a service were subscribed over. */
  lost(service: string, uris: readonly string[]): void;
  close(): void;
}

/** Tries again with the same waits as any use of a service that fails; ends with the last subscription. */
export function createRenewal(
  registry: Registry,
  subscribers: Subscribers,
  proxy: ServiceProxy,
  closing: AbortSignal,
): Renewal {
  const timers = new Set<NodeJS.Timeout>();

  function later(service: string, uris: readonly string[], failures: number): void {
    const timer = setTimeout(
      () => {
        timers.delete(timer);
        void renew(service, uris, failures);
      },
      waitAfter(failures + 1),
    );
    timer.unref();
    timers.add(timer);
  }

  async function renew(service: string, uris: readonly string[], failures: number): Promise<void> {
    const left: string[] = [];
    for (const uri of uris)
      await renewOne(service, uri).catch(() => {
        left.push(uri);
      });
    if (left.length > 0 && !closing.aborted) later(service, left, failures + 1);
  }

  async function renewOne(service: string, uri: string): Promise<void> {
    const entry = (await registry.list()).find(({ id }) => id === service);
    const wanting =
      entry && subscribers.wanting(service, uri).find((it) => decideService(entry, it.view().context).allowed);
    if (!entry || !wanting) return;
    const { caller } = wanting;
    await proxy(entry, { caller, method: "resources/subscribe", params: { uri }, signal: closing });
    // It may have changed while no connection was open.
    await subscribers.updated(service, uri, { uri });
  }

  return {
    lost: (service, uris) => later(service, uris, 0),
    close() {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}
