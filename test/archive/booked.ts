/** An archive as it is when it is large: the next run looks replies up in the catalogue, however few they are. */
import { join } from "node:path";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import insights from "../../plugins/insights/index.ts";
import { createTestKernel, type TestKernel } from "../kernel.ts";

/** Holds no replies in memory between two runs. Archives of one home lie beside each other, each in a folder `data` of its own. */
export async function openBooked(home: string, data: string): Promise<TestKernel> {
  const t = await createTestKernel({
    home,
    plugins: [archive(), insights(), claude()],
    config: { dataDir: join(home, data) },
  });
  t.kernel.inject("archive/open").importer.mostReplies = 3;
  return t;
}
