/** A kernel with the hub and the plugins it needs. */
import { fileURLToPath } from "node:url";
import type { Plugin } from "sessarc";
import archive from "../../plugins/archive/index.ts";
import mcpHub from "../../plugins/mcp-hub/index.ts";
import security from "../../plugins/security/index.ts";
import { type ServeTestOptions, serveTest } from "../_setup.ts";
import { createTestKernel, type TestKernel, type TestKernelOptions } from "../kernel.ts";

export const HUB = (): Plugin[] => [archive(), security(), mcpHub()];

export function startHub(options: TestKernelOptions = {}): Promise<TestKernel> {
  return createTestKernel({ ...options, plugins: [...HUB(), ...(options.plugins ?? [])] });
}

/** The hub on a port of its own, for clients that speak HTTP. */
export async function serveHub(options: ServeTestOptions = {}) {
  const served = await serveTest({ ...options, plugins: HUB() });
  const add = async (id: string, service: object) => {
    await served.kernel.inject("mcp").services.put({ id, ...service });
  };
  return { ...served, add };
}

/** A server of a package in node_modules, as a service. */
export function packageServer(name: string, args: readonly string[] = []) {
  const folder = fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/${name}/`, import.meta.url));
  return { command: process.execPath, args: [`${folder}dist/index.js`, ...args] };
}
