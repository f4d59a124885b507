/** Pushes from time to time while the service runs, where the user set `team.push` to `background`. */
import { isSessarcError, type Kernel } from "sessarc";
import type { TeamClient } from "./client.ts";
import { pauseAfter } from "./pauses.ts";

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
  let pushing = false;
  let changedMeanwhile = false;
  let failures = 0;
  /** What failed at the last push, with its code: reported when it begins. */
  let known = new Map<string, string>();
  /** Machines without access: waiting does not change that. */
  const shutOut = new Set<string>();

  const later = (ms: number) => {
    clearTimeout(timer);
    if (!closed) timer = setTimeout(() => void push(), ms).unref();
  };

  async function push(): Promise<void> {
    // A command that uses the archive in its own process ends soon.
    if (!kernel.address) return;
    pushing = true;
    changedMeanwhile = false;
    const problems = await client()
      .then((opened) => opened.pushAll(shutOut))
      .catch((error: unknown) => [{ about: "", device: "", error }]);
    pushing = false;
    if (kernel.closing.aborted) return;
    const before = known;
    known = new Map();
    for (const { about, device, error } of problems) {
      const code = isSessarcError(error) ? error.code : "";
      if (code === "TEAM_NO_ACCESS") shutOut.add(device);
      else known.set(about, code);
      if (before.get(about) !== code) await kernel.notify("listener:failed", error, { hook: "team.push" });
    }
    failures = known.size > 0 ? failures + 1 : 0;
    later(failures > 0 || changedMeanwhile ? pauseAfter(failures, settleMs) : ALL_MS);
  }

  later(settleMs);
  return {
    // While it is pushing, or waiting to try again, the next push is planned already.
    changed() {
      if (pushing) changedMeanwhile = true;
      else if (failures === 0) later(settleMs);
    },
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
