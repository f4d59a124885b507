/** A kernel over a throw-away home, for tests of plugins. Published as part of `sessarc/test`. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ErrorBody, Kernel, Plugin } from "sessarc";
import type { AdapterEnv } from "sessarc/adapter";
import { type ConfigFlags, createKernel, loadConfig, type PluginEntry } from "sessarc/serve";
import { onTestFinished } from "vitest";

export interface TestKernelOptions {
  plugins?: readonly (Plugin | PluginEntry)[];
  /** As flags of the command line would set it. */
  config?: ConfigFlags;
  /** Environment of the adapters beside HOME; nothing of the real one is seen. */
  env?: Readonly<Record<string, string>>;
  /** Keeps using this home (a second start over the same data) instead of making one. */
  home?: string;
  /** Limit of each plugin's start. */
  timeoutMs?: number;
}

export interface TestKernel {
  kernel: Kernel;
  /** HOME of everything in this kernel; removed at the end unless it was handed in. */
  home: string;
  env: AdapterEnv;
  /** In-process client: `fetch("/api/status")`. */
  fetch: Kernel["fetch"];
  /** Fetches and parses; throws when the answer is not JSON. */
  json<T = unknown>(path: string, init?: RequestInit): Promise<T>;
  /** POST, PATCH or DELETE of a JSON body. */
  send<T = unknown>(method: string, path: string, body?: unknown): Promise<{ status: number; body: T }>;
  /** Unexpected errors of requests and listeners; `close` fails when some are left, so take those you expect. */
  errors: unknown[];
  close(): Promise<void>;
}

/** The machine as a test wants it: a home of its own and no environment but what is given. */
export function testEnv(home: string, env: Readonly<Record<string, string>> = {}): AdapterEnv {
  return { home, platform: process.platform, env: { HOME: home, ...env } };
}

/** Starts a kernel in a fresh home. Inside a test it closes automatically when the test ends; elsewhere call `close`. */
export async function createTestKernel(options: TestKernelOptions = {}): Promise<TestKernel> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), "sessarc-test-")));
  const env = testEnv(home, options.env);
  const flags = { dataDir: join(home, "data"), ...options.config };
  const errors: unknown[] = [];
  const removeHome = () => (options.home ? undefined : rm(home, { recursive: true, force: true }));
  const { plugins, timeoutMs } = options;
  const config = await loadConfig({ cwd: home, env, flags });
  const kernel = await createKernel({ plugins, config, env, timeoutMs, log: () => {} }).catch(async (error) => {
    await removeHome();
    throw error;
  });
  kernel.hooks.hook("request:error", (error) => void errors.push(error));
  kernel.hooks.hook("listener:failed", (error) => void errors.push(error));

  let closed = false;
  const self: TestKernel = {
    kernel,
    home,
    env,
    errors,
    fetch: kernel.fetch,
    async json<T>(path: string, init?: RequestInit) {
      return (await (await kernel.fetch(path, init)).json()) as T;
    },
    async send<T>(method: string, path: string, body?: unknown) {
      const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
      const response = await kernel.fetch(path, init);
      const text = await response.text();
      return { status: response.status, body: (text ? JSON.parse(text) : undefined) as T };
    },
    async close() {
      if (closed) return;
      closed = true;
      try {
        await kernel.close();
      } finally {
        await removeHome();
      }
      if (errors.length > 0) throw new AggregateError(errors, `${errors.length} unexpected error(s)`);
    },
  };
  closeWithTest(self);
  return self;
}

function closeWithTest(it: TestKernel): void {
  try {
    onTestFinished(() => it.close());
  } catch {
    // Called from a hook and not from a test: the caller closes.
  }
}

/** Checks the one error shape and answers the body. */
export async function readError(response: Response): Promise<ErrorBody> {
  const body = (await response.json()) as ErrorBody;
  if (body.status !== response.status || typeof body.code !== "string" || typeof body.message !== "string") {
    throw new Error(`Not a SessarcError: ${response.status} ${JSON.stringify(body)}`);
  }
  return body;
}
