/**
 * When V8 optimises: heuristics alone, what is computed stays the same. A command that asks once spent half of its processor time on
 * optimising code that hardly ran again; `cli.ts` says what holds for every process.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

/** From here on SQLite's interpreter runs so long that optimising it (170 ms) pays. */
const LARGE = 64 * 2 ** 20;

/** For a command that asks the archive once and ends; to be called before SQLite is loaded. Node 24 gains nothing by it. */
export function expectBrief(dataDir: string): void {
  const node = Number(process.versions.node.split(".")[0]);
  if (node > 22 || !["x64", "arm64"].includes(process.arch)) return;
  if ((statSync(join(dataDir, "catalog.db"), { throwIfNoEntry: false })?.size ?? 0) > LARGE) return;
  setFlagsFromString("--liftoff-only");
  if (node < 22) setFlagsFromString("--interrupt-budget=1000000");
}
