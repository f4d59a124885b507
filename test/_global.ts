/** Before the first test file: what the chosen files share is built, once for all of them. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { builtDashboard, builtPackage, packedTarball } from "./built.ts";
import { EXECUTABLE, NO_BROWSER } from "./ui/chromium.ts";

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const files = project.vitest.state.getPaths().filter((file) => project.matchesTestGlob(file));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  const someUse = (module: RegExp) => texts.some((text) => module.test(text));
  const usesBrowser = someUse(/\/(browser|chromium)\.ts"/);
  const wantsBrowser = EXECUTABLE !== undefined && usesBrowser;
  // Here no test's time runs out, however busy the machine is. The packed dashboard is also the one that tests look at.
  // Beside a whole run it is being built; those that come first need nothing of it (_sequence.ts), the others wait for it.
  if (process.env.SESSARC_TEST_BUILD !== "beside") {
    if (someUse(/packedTarball|packedInstall/)) await packedTarball();
    else if (someUse(/builtPackage/)) await builtPackage();
    if (wantsBrowser) await builtDashboard();
  }
  if (NO_BROWSER && usesBrowser) console.warn("No chromium (set CHROMIUM=…): tests of the dashboard are skipped");
  if (!wantsBrowser) return;
  const stages = await mkdtemp(join(tmpdir(), "sessarc-stages-"));
  project.provide("stages", stages);
  return async () => {
    await rm(stages, { recursive: true, force: true, maxRetries: 5 });
  };
}
