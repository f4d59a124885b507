/** Sessions of Claude Code in a kernel, for tests of recall. */
import { createTestKernel } from "sessarc/test";
import { defaultPlugins } from "../../plugins/index.ts";
import { type TestSession, writeSessions } from "./logs.ts";

export * from "./logs.ts";

/** A kernel over a home with these sessions, imported. */
export async function startWith(home: string, sessions: readonly TestSession[]) {
  await writeSessions(home, sessions);
  const t = createTestKernel({ home, plugins: defaultPlugins(), config: { sync: false } });
  const kernel = await t;
  await kernel.send("POST", "/api/import", { all: true });
  return kernel;
}
