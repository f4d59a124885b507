/** How a command reaches the API: the running service when there is one, else this process opens the archive itself. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { AdapterEnv } from "../adapter.ts";
import type { ResolvedConfig } from "../config.ts";
import type { Kernel } from "../types.ts";
import type { PluginSource } from "./commands.ts";

export interface Client {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  kernel(): Promise<Kernel>;
  scratch(): Promise<Kernel>;
  close(): Promise<void>;
}

export interface ClientOptions {
  config: ResolvedConfig;
  env: AdapterEnv;
  plugins: readonly PluginSource[];
}

/** The service could not be reached though its lock says it runs: exit code 4. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

/** How long a command waits for a service that is starting, or for another command, to give its address or the archive. */
const PATIENCE_MS = 10_000;
const LOOK_MS = 100;

/** Makes a client; nothing is opened before it is asked for. */
export function createClient({ config, env, plugins }: ClientOptions): Client {
  const closers: (() => Promise<void>)[] = [];
  let own: Promise<Kernel> | undefined;
  let service: Promise<Service | undefined> | undefined;

  const boot = async (dataDir: string): Promise<Kernel> => {
    const { createKernel } = await import("../kernel.ts");
    // Nobody but this command calls it, and it does not stay long enough to keep anything in step.
    const quiet = { ...config, dataDir, auth: false, sync: false, autoImport: false };
    const kernel = await createKernel({ config: quiet, env, plugins });
    closers.push(() => kernel.close());
    return kernel;
  };
  const kernel = () => {
    own ??= boot(config.dataDir);
    return own;
  };

  return {
    kernel,
    async fetch(path, init) {
      service ??= own ? Promise.resolve(undefined) : findService(config.dataDir);
      const found = await service;
      if (!found) return (await kernel()).fetch(`/api${path}`, init);
      const headers = new Headers(init?.headers);
      if (found.token) headers.set("authorization", `Bearer ${found.token}`);
      try {
        return await fetch(new URL(`/api${path}`, found.url), { ...init, headers });
      } catch (cause) {
        if (init?.signal?.aborted) throw cause;
        throw new UnreachableError(`The service at ${found.url} does not answer`, { cause });
      }
    },
    async scratch() {
      const dir = await mkdtemp(join(tmpdir(), "sessarc-"));
      closers.push(() => rm(dir, { recursive: true, force: true }));
      return boot(dir);
    },
    async close() {
      // Last opened first: a kernel closes before its folder goes.
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

interface Service {
  url: string;
  token: string | undefined;
}

/** Undefined when the archive is free for this process to open. */
async function findService(dataDir: string): Promise<Service | undefined> {
  const { readLock } = await import("../storage/lock.ts");
  const deadline = Date.now() + PATIENCE_MS;
  let lock = await readLock(dataDir);
  while (lock && lock.url === undefined && Date.now() < deadline) {
    await delay(LOOK_MS);
    lock = await readLock(dataDir);
  }
  if (lock?.url === undefined) return undefined;
  const { readDiscovery } = await import("../access.ts");
  const discovery = await readDiscovery(dataDir);
  return { url: lock.url, token: discovery?.url === lock.url ? discovery.token : undefined };
}
