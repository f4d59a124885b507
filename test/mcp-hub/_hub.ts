/** A kernel with the hub and what it stands on. */
import type { Plugin } from "sessarc";
import archive from "../../plugins/archive/index.ts";
import mcpHub from "../../plugins/mcp-hub/index.ts";
import security from "../../plugins/security/index.ts";
import { createTestKernel, type TestKernel, type TestKernelOptions } from "../kernel.ts";

export const HUB = (): Plugin[] => [archive(), security(), mcpHub()];

export function startHub(options: TestKernelOptions = {}): Promise<TestKernel> {
  return createTestKernel({ ...options, plugins: [...HUB(), ...(options.plugins ?? [])] });
}
