/**
 * When V8 optimises: heuristics alone, what is computed stays the same. They are set right before SQLite starts and not earlier: under other
 * flags than its own V8 refuses what Node brings compiled, and some seventy of its modules would be compiled again (25 ms of a start).
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

/**
 * From here on SQLite's interpreter runs so long that optimising it pays: 0.2 s of a processor and 31 MB, of which up to 11 stay with the
 * process, for statements that are a tenth quicker. V8 can be set to do it after 5 ms of them at the earliest.
 */
const LARGE = 64 * 2 ** 20;
const NODE = Number(process.versions.node.split(".")[0]);

/** `brief`: a command that asks the archive in `dataDir` once and ends. */
export function tuneEngine(dataDir: string, brief: boolean): void {
  const small = isSmall(dataDir);
  // Node 20 optimises early, in each thread: a tenth of an import's processor time. Later versions wait about this long by default.
  if (NODE < 22) setFlagsFromString(`--interrupt-budget=${brief && small ? 1_000_000 : 400_000}`);
  setFlagsFromString(small ? "--liftoff-only" : "--wasm-tiering-budget=2000000000");
}

/** Node 24 gains nothing by it: it optimises in the background at no cost that could be measured. */
function isSmall(dataDir: string): boolean {
  if (NODE > 22 || !["x64", "arm64"].includes(process.arch)) return false;
  return (statSync(join(dataDir, "catalog.db"), { throwIfNoEntry: false })?.size ?? 0) <= LARGE;
}
