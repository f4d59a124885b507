/** A kernel for each person: its database shows what that person may read, so that no cache of a plugin mixes people. */

import type { Kernel } from "sessarc";
import { createKernel } from "sessarc/serve";
import type { Caller } from "../accounts/caller.ts";
import type { Directory } from "../accounts/directory.ts";
import { type KernelParts, kernelConfig, NOBODY } from "../kernel-parts.ts";
import { toStorage } from "../storage.ts";
import { teamView } from "./plugin.ts";

/** Kernels at once, and ms after which an unused one is closed. */
const MOST = 32;
const IDLE_MS = 10 * 60_000;

interface Entry {
  /** Spaces it was made for. */
  spaces: string;
  kernel: Promise<Kernel>;
  /** Of the tenant: the kernel knows of all changes up to it. */
  generation: number;
  /** Requests that find a newer generation wait for each other. */
  catchingUp: Promise<void>;
  usedAt: number;
}

export type PersonKernels = ReturnType<typeof createPersonKernels>;

export function createPersonKernels(
  { database, bodies, plugins, repositories, config, log }: KernelParts,
  directory: Directory,
  address: () => string,
) {
  const entries = new Map<string, Entry>();
  const closing = new Set<Promise<void>>();

  function open(caller: Caller): Promise<Kernel> {
    const spaces = caller.spaces.map(({ id }) => id);
    const db = database.member({ tenant: caller.tenant, person: caller.person.id, spaces });
    return createKernel({
      config: kernelConfig(config, bodies),
      storage: toStorage(db, bodies, true),
      plugins: [...plugins.person, teamView({ directory, repositories, spaces: caller.spaces, address })],
      partial: true,
      env: NOBODY,
      log,
    });
  }

  /** Requests under way end first. */
  function drop(person: string, entry: Entry): void {
    if (entries.get(person) === entry) entries.delete(person);
    const done = entry.kernel
      .then((kernel) => kernel.close())
      .catch((error: unknown) => log(`A person's kernel did not close: ${String(error)}`))
      .finally(() => closing.delete(done));
    closing.add(done);
  }

  /** Names to the kernel the sessions that changed until `generation`: it reads those again, not all. */
  function catchUp(entry: Entry, kernel: Kernel, tenant: number, generation: number): Promise<void> {
    const next = async () => {
      if (entry.generation >= generation) return;
      kernel.inject("archive/open").changed(await database.changesSince(tenant, entry.generation));
      entry.generation = generation;
    };
    // After a failure the next request tries again.
    entry.catchingUp = entry.catchingUp.then(next, next);
    return entry.catchingUp;
  }

  function sweep(): void {
    const since = Date.now() - IDLE_MS;
    for (const [person, entry] of entries) if (entry.usedAt < since || entries.size > MOST) drop(person, entry);
  }
  const timer = setInterval(sweep, 60_000).unref();

  return {
    get size(): number {
      return entries.size;
    },

    /** The caller's kernel, which knows of everything that was committed before this call. */
    async of(caller: Caller): Promise<Kernel> {
      const person = caller.person.id;
      const spaces = caller.spaces.map(({ id }) => id).join();
      const generation = await database.generation(caller.tenant);
      let entry = entries.get(person);
      if (entry && entry.spaces !== spaces) {
        drop(person, entry);
        entry = undefined;
      }
      if (!entry) {
        entry = { spaces, kernel: open(caller), generation, catchingUp: Promise.resolve(), usedAt: 0 };
        const made = entry;
        made.kernel.catch(() => entries.get(person) === made && entries.delete(person));
      }
      // The one that was used last is at the end.
      entries.delete(person);
      entries.set(person, entry);
      entry.usedAt = Date.now();
      if (entries.size > MOST) sweep();
      const kernel = await entry.kernel;
      await catchUp(entry, kernel, caller.tenant, generation);
      return kernel;
    },

    async close(): Promise<void> {
      clearInterval(timer);
      for (const [person, entry] of entries) drop(person, entry);
      await Promise.all(closing);
    },
  };
}
