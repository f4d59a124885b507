/** The built command line of this package, for commands that other programs run. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Named in full beside `process.execPath`: `npx` alone takes half a second. */
export function cliFile(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json")) && dirname(folder) !== folder) folder = dirname(folder);
  return join(folder, "dist", "cli.mjs");
}
