/** Serving: listen first, start the plugins beside it, end without losing anything. */
import type { RequestListener } from "node:http";
import { constants } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CoreConfig } from "../contract/config.ts";
import type { Kernel, ServedAddress } from "../contract/kernel.ts";
import { bootKernel, type KernelOptions } from "../kernel/kernel.ts";
import { startThread } from "../storage/thread.ts";
import { toMessage } from "../utils/async.ts";
import { linger, listenOn, refuse } from "./listen.ts";

/** Node runs no TypeScript in a thread: a source checkout has the catalogue in this one. */
const CAN_THREAD = !import.meta.url.endsWith(".ts");

/** What `serve` takes. */
export interface ServeOptions extends KernelOptions {
  config: CoreConfig;
  /** Time open connections get to end when closing, after running requests are done. Default 1 s. */
  graceMs?: number | undefined;
  /** Closes the service when it aborts; what goes wrong then shows on `Served.closed`. */
  signal?: AbortSignal | undefined;
  /** Gets the line `sessarc ready at <url>` once requests are answered. */
  out?: ((line: string) => void) | undefined;
}

/** A service that listens (`serve`). */
export interface Served extends ServedAddress {
  kernel: Kernel;
  /** In token mode: the link that logs a browser in, once. */
  loginUrl: string | undefined;
  /** Stops listening, ends streams, closes the kernel. Calling again waits for the same close. */
  close(): Promise<void>;
  /** Settles when it has closed, by whatever way. */
  closed: Promise<void>;
}

/**
 * Starts the service. Requests that come before the plugins are ready wait for them. Rejects, with everything closed again,
 * when the port is taken (PORT_TAKEN), the archive is open elsewhere (ARCHIVE_LOCKED) or a plugin does not start.
 */
export async function serve(options: ServeOptions): Promise<Served> {
  const { config, graceMs = 1_000 } = options;
  // Loading h3 fills the time in which booting waits for the disk.
  const h3 = loadH3();
  const thread = CAN_THREAD && !options.storage ? startThread() : undefined;
  const booting = bootKernel(options, thread).then(({ kernel }) => kernel);
  // Awaited below, perhaps only after it has failed: an embedding program must not be ended by that.
  booting.catch(() => thread?.terminate());
  h3.catch(() => {});
  const gate = createGate();
  const { server, address, stop } = await listenOn(config, (req, res) => {
    linger(req, res);
    gate.opened.then(
      (handle) => handle(req, res),
      () => refuse(res, "SHUTTING_DOWN", {}),
    );
  }).catch(async (error) => {
    const kernel = await booting.catch(() => undefined);
    await kernel?.close();
    throw error;
  });

  /** Closes the connections that are still open after the grace time. */
  async function disconnect(stopped: Promise<void>): Promise<void> {
    const cut = setTimeout(() => server.closeAllConnections(), graceMs);
    await stopped;
    clearTimeout(cut);
  }

  let loginUrl: string | undefined;
  try {
    const kernel = await booting;
    const listener = await toListener(kernel, await h3);
    // First the address, or requests that waited would be checked against another one.
    loginUrl = await kernel.announce(address);
    gate.open(listener);
  } catch (error) {
    gate.fail(error);
    const kernel = await booting.catch(() => undefined);
    await kernel?.close();
    await disconnect(stop());
    throw error;
  }
  const kernel = await booting;

  let closing: Promise<void> | undefined;
  let settle: (result: Promise<void>) => void;
  const closed = new Promise<void>((resolve) => {
    settle = resolve;
  });
  closed.catch(() => {});
  async function closeAll(): Promise<void> {
    const stopped = stop();
    await kernel.close().finally(() => disconnect(stopped));
  }
  const served: Served = {
    ...address,
    kernel,
    loginUrl,
    closed,
    close() {
      if (!closing) {
        closing = closeAll();
        settle(closing);
      }
      return closing;
    },
  };
  const abort = () => served.close().catch(() => {});
  options.signal?.addEventListener("abort", abort, { once: true });
  if (options.signal?.aborted) abort();
  options.out?.(`sessarc ready at ${address.url}`);
  return served;
}

/** Holds requests until the plugins have started. */
function createGate() {
  let open: (listener: RequestListener) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const opened = new Promise<RequestListener>((resolve, reject) => {
    open = resolve;
    fail = reject;
  });
  // Without waiting requests, only `serve` reports a failed start.
  opened.catch(() => {});
  return { opened, open, fail };
}

/** Of h3, what a service needs. */
type Http = Pick<typeof import("h3"), "H3" | "toNodeHandler">;

/** Node loads `Response` and its relatives at their first use, which takes about 28 ms: done here in a separate event-loop turn. */
async function loadH3(): Promise<Http> {
  await nextTurn();
  Reflect.get(globalThis, "Response");
  await nextTurn();
  const { H3, toNodeHandler } = await import("h3");
  return { H3, toNodeHandler };
}

async function toListener(kernel: Kernel, { H3, toNodeHandler }: Http): Promise<RequestListener> {
  const app = await kernel.app();
  if (!(app instanceof H3)) throw new TypeError("the app was made by another h3");
  const handle = toNodeHandler(app);
  return (req, res) => void handle(req, res);
}

/**
 * SIGINT, SIGTERM and SIGHUP (a terminal that is closed): the first closes and exits (0, or 1 when closing failed), the second exits at once. What has not closed after
 * `limitMs` (5 s) is left, and the process killed: all that was acknowledged is on disk. For programs that serve and do nothing else;
 * answers a function that takes the handlers off.
 */
export function closeOnSignals(
  served: Served,
  log: (line: string) => void = console.error,
  limitMs = 5_000,
): () => void {
  let asked = false;
  const handle = (signal: NodeJS.Signals) => {
    if (asked) process.exit(128 + constants.signals[signal]);
    asked = true;
    // Not `exit`: that waits for threads, and one of them may be what hangs.
    setTimeout(() => process.kill(process.pid, "SIGKILL"), limitMs).unref();
    served.close().then(
      () => process.exit(0),
      (error: unknown) => {
        log(toMessage(error));
        process.exit(1);
      },
    );
  };
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  for (const signal of signals) process.on(signal, handle);
  return () => {
    for (const signal of signals) process.off(signal, handle);
  };
}
