/** How a command reaches the API: the running service when there is one, else this process opens the archive itself. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

/** Makes a client; nothing is opened before it is asked for. */
export function createClient({ config, env, plugins }: ClientOptions): Client {
  const closers: (() => Promise<void>)[] = [];
  let own: Promise<Kernel> | undefined;
  let service: Promise<string | undefined> | undefined;

  const boot = async (dataDir: string): Promise<Kernel> => {
    const { createKernel } = await import("../kernel.ts");
    const kernel = await createKernel({ config: { ...config, dataDir }, env, plugins });
    closers.push(() => kernel.close());
    return kernel;
  };
  const kernel = () => {
    own ??= boot(config.dataDir);
    return own;
  };
  const running = async (): Promise<string | undefined> => {
    const { readLock } = await import("../storage/lock.ts");
    return (await readLock(config.dataDir))?.url;
  };

  return {
    kernel,
    async fetch(path, init) {
      service ??= own ? Promise.resolve(undefined) : running();
      const url = await service;
      if (url === undefined) return (await kernel()).fetch(`/api${path}`, init);
      try {
        return await fetch(new URL(`/api${path}`, url), init);
      } catch (cause) {
        throw new UnreachableError(`The service at ${url} does not answer`, { cause });
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
