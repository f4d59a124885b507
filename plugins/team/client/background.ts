/** Pushes from time to time while the service runs, where the user set `team.push` to `background`. */
import type { Kernel } from "sessarc";
import type { TeamClient } from "./client.ts";

/** After the last change: a session that is being written is pushed when it rests. */
const SETTLE_MS = 60_000;
/** Also without a change: a server that was restored from a backup lacks sessions that are unchanged here. */
const ALL_MS = 3_600_000;

export interface Background {
  /** A session changed. */
  changed(): void;
  close(): void;
}

export function createBackground(kernel: Kernel, client: () => Promise<TeamClient>, settleMs = SETTLE_MS): Background {
  let timer: NodeJS.Timeout | undefined;
  let closed = false;
  const later = (ms: number) => {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(() => {
      // A command that uses the archive in its own process ends soon.
      if (!kernel.address) return;
      client()
        .then((opened) => opened.pushAll())
        .catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "team.push" }))
        .finally(() => later(ALL_MS));
    }, ms);
    timer.unref();
  };
  later(settleMs);
  return {
    changed: () => later(settleMs),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
