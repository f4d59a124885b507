/** An archive in a folder of its own, of a home that several share. */
import { join } from "node:path";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

/** `data`: its folder in the home. */
export async function openBooked(home: string, data: string): Promise<TestKernel> {
  return createTestKernel({
    home,
    plugins: [archive(), insights(), claude()],
    config: { dataDir: join(home, data) },
  });
}
