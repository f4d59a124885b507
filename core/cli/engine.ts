/**
 * When V8 optimises: heuristics alone, what is computed stays the same. They are set right before SQLite starts and not sooner: under other
 * flags than its own V8 refuses what Node brings compiled, and some seventy of its modules would be compiled again (25 ms of a start).
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

/** From here on SQLite's interpreter runs so long that optimising it (170 ms) pays. */
const LARGE = 64 * 2 ** 20;
const NODE = Number(process.versions.node.split(".")[0]);

/** `brief`: the data directory of a command that asks the archive once and ends. */
export function tuneEngine(brief: string | undefined): void {
  const isBrief = brief !== undefined && staysBrief(brief);
  // Node 20 optimises early, in each thread: a tenth of an import's processor time. Later versions wait about as long as this by themselves.
  if (NODE < 22) setFlagsFromString(`--interrupt-budget=${isBrief ? 1_000_000 : 400_000}`);
  // Optimising SQLite takes 0.2 s of a processor and 20 MB. V8 does it after some fifty statements, this after as many as take about that long.
  setFlagsFromString(isBrief ? "--liftoff-only" : "--wasm-tiering-budget=2000000000");
}

/** A command that asks once spent half of its processor time on optimising code that hardly ran again. Node 24 gains nothing by it. */
function staysBrief(dataDir: string): boolean {
  if (NODE > 22 || !["x64", "arm64"].includes(process.arch)) return false;
  return (statSync(join(dataDir, "catalog.db"), { throwIfNoEntry: false })?.size ?? 0) <= LARGE;
}
