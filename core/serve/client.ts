/** How a command reaches the API: the running service when there is one, else this process opens the archive itself. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { machineEnv } from "../config/env.ts";
import type { AdapterEnv } from "../contract/adapter.ts";
import type { CoreConfig } from "../contract/config.ts";
import type { CommandContext, Plugin, PluginEntry } from "../contract/plugin.ts";
import { type ErrorBody, isSessarcError, type SessarcError, toErrorBody } from "../errors/error.ts";
import type { Callable } from "../http/call.ts";
import { ApiError } from "../terminal/errors.ts";
import { createPatience, type Patience } from "./patience.ts";

/** Asks the running service, or a kernel in this process when there is none (`createClient`). */
export type Client = Pick<CommandContext, "get" | "fetch" | "kernel" | "scratch"> & {
  /** Whether a running service answers; without one the archive is opened in this process. */
  isService(): Promise<boolean>;
  /** Closes the kernel of this process, when one was opened. The next request finds the service, or opens the archive, again. */
  close(): Promise<void>;
};

/** What `createClient` takes. */
export interface ClientOptions {
  config: CoreConfig;
  env?: AdapterEnv | undefined;
  /** Those of a kernel in this process, when one is needed. */
  plugins: readonly (Plugin | PluginEntry)[];
  /** They are not all. */
  partial?: boolean | undefined;
  /** As of a kernel. */
  onConfigError?: ((error: SessarcError) => void) | undefined;
  /** Those of a kernel over an empty archive (`scratch`). Default: `plugins`. */
  scratchPlugins?: readonly (Plugin | PluginEntry)[] | undefined;
  /** There is no archive, and none is made: it asks an empty one in a temporary folder. */
  empty?: boolean | undefined;
  /** Gets a line for each plugin that was left out. Default: stderr. */
  log?: ((line: string) => void) | undefined;
}

/** The service could not be reached though its lock says it runs: exit code 4. */
export class UnreachableError extends Error {
  override readonly name = "UnreachableError";
}

const LOOK_MS = 100;

/**
 * Reaches the API of an archive from this process: the running service when there is one, else a kernel that is opened here. Nothing is
 * opened before it is asked for. `get` throws ApiError for what the API refuses, UnreachableError when the service does not answer.
 */
export function createClient({
  config,
  env = machineEnv(),
  plugins,
  partial,
  onConfigError,
  scratchPlugins = plugins,
  empty = false,
  log,
}: ClientOptions): Client {
  const closers: (() => Promise<void>)[] = [];
  let own: Promise<Callable> | undefined;
  let service: Promise<Service | undefined> | undefined;

  const boot = async (dataDir: string, plugins: readonly (Plugin | PluginEntry)[]): Promise<Callable> => {
    warmUp();
    const { bootKernel } = await import("../kernel/kernel.ts");
    // Only this command calls it, and it is too short-lived to sync anything.
    const quiet = { ...config, dataDir, auth: false, sync: false, autoImport: false };
    const booted = await bootKernel({
      config: quiet,
      partial,
      onConfigError,
      env,
      plugins,
      log,
      onBroken: "leave-out",
    });
    closers.push(() => booted.kernel.close());
    return booted;
  };
  const temporary = async (): Promise<string> => {
    const dir = await mkdtemp(join(tmpdir(), "sessarc-"));
    closers.push(() => rm(dir, { recursive: true, force: true }));
    return dir;
  };
  const open = () => {
    own ??= (empty ? temporary().then((dir) => boot(dir, plugins)) : boot(config.dataDir, plugins)).catch(
      (error: unknown) => {
        own = undefined;
        throw error;
      },
    );
    return own;
  };
  /** The service, or undefined when the kernel of this process is open. Who locks the archive for a moment is waited for. */
  const findTarget = async (): Promise<Service | undefined> => {
    const patience = createPatience();
    for (;;) {
      const found = own ? undefined : await findService(config.dataDir, patience);
      if (found) return found;
      try {
        await open();
        return undefined;
      } catch (error) {
        if (!isSessarcError(error) || error.code !== "ARCHIVE_LOCKED" || !patience.waits()) throw error;
      }
    }
  };
  const locate = () => {
    service ??= findTarget();
    return service;
  };

  return {
    kernel: async () => (await open()).kernel,
    isService: async () => (await locate()) !== undefined,
    async get<T>(path: string, query: Record<string, string | undefined> = {}, signal?: AbortSignal) {
      const set = Object.fromEntries(
        Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined),
      );
      const found = await locate();
      if (found) return (await getJson(found, `/api${path}?${new URLSearchParams(set)}`, signal)) as T;
      try {
        const { callRoute } = await import("../http/call.ts");
        return (await callRoute(await open(), path, set)) as T;
      } catch (error) {
        throw isSessarcError(error) && error.status < 500 && error.code !== "ARCHIVE_LOCKED"
          ? new ApiError(toErrorBody(error))
          : error;
      }
    },
    async fetch(path, init) {
      const found = await locate();
      if (!found) return (await open()).kernel.fetch(`/api${path}`, init);
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
      const dir = await temporary();
      service = Promise.resolve(undefined);
      own = boot(dir, scratchPlugins);
      return (await own).kernel;
    },
    async close() {
      own = undefined;
      service = undefined;
      // Last opened first: a kernel closes before its folder goes.
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}

/** The database's WebAssembly compiles on another thread: started here, it is ready when the plugins are. */
function warmUp(): void {
  import("../storage/sqljs.ts")
    .then((sqljs) => sqljs.fetchSqlJs())
    .catch(() => {
      // Reported by the call that needs the database.
    });
}

interface Service {
  url: string;
  token: string | undefined;
}

/** Undefined when the archive is free for this process to open. */
async function findService(dataDir: string, patience: Patience): Promise<Service | undefined> {
  const { readLock } = await import("../storage/lock.ts");
  let lock = await readLock(dataDir);
  while (lock && lock.url === undefined) {
    patience.see(lock.token);
    if (!patience.waits()) break;
    await delay(LOOK_MS);
    lock = await readLock(dataDir);
  }
  if (lock?.url === undefined) return undefined;
  const { readDiscovery } = await import("../http/access.ts");
  const discovery = await readDiscovery(dataDir);
  return { url: lock.url, token: discovery?.url === lock.url ? discovery.token : undefined };
}

/** node:http and not `fetch`: that takes twice as long to load as the answer to come. */
async function getJson({ url, token }: Service, path: string, signal: AbortSignal | undefined): Promise<unknown> {
  const { get } = await import("node:http");
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  const { status, text } = await new Promise<{ status: number; text: string }>((resolve, reject) => {
    const request = get(new URL(path, url), { headers, ...(signal && { signal }) }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString("utf8") }),
      );
    });
    request.on("error", reject);
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw new UnreachableError(`The service at ${url} does not answer`, { cause });
  });
  const body: unknown = JSON.parse(text);
  if (status >= 200 && status < 300) return body;
  throw new ApiError(body as ErrorBody);
}
