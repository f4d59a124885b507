/** What the configuration may set. */
import type { Kernel } from "sessarc";
import type { Limits } from "./run/command.ts";
import { findIsolation, type Isolation } from "./run/isolation.ts";

export interface ReplayOptions {
  /** Limits of commands; what is not named keeps its default (run/command.ts). */
  limits?: Partial<Limits> | undefined;
  /** Folders with tool chains that commands may read, beside the system's. */
  readable?: readonly string[] | undefined;
  /** Bytes of all sandboxes together; the ones used longest ago go first. Default 2 GiB. */
  maxBytes?: number | undefined;
  /** Bytes of one sandbox: its files, what was replaced in them, its home. Default 1 GiB. */
  sandboxBytes?: number | undefined;
  /** Sandboxes kept. Default 20. */
  maxSandboxes?: number | undefined;
}

export const isolationOptions = (kernel: Kernel, options: ReplayOptions) => ({
  platform: kernel.env.platform,
  path: process.env.PATH ?? "",
  readable: options.readable ?? [],
});

/** Tried once; without isolation it is tried again after a minute. */
export function createIsolationProbe(kernel: Kernel, options: ReplayOptions): () => Promise<Isolation> {
  let asked: { at: number; found: Promise<Isolation> } | undefined;
  return async () => {
    asked ??= { at: performance.now(), found: findIsolation(isolationOptions(kernel, options)) };
    const found = await asked.found;
    if (found.kind === "none" && performance.now() - asked.at > 60_000) asked = undefined;
    return found;
  };
}

export const SANDBOX_BYTES = 2 ** 30;
