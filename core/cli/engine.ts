/**
 * When V8 optimises: heuristics alone, what is computed stays the same. Each thread of an import, and each command, spent a fifth to a
 * half of its processor time on optimising code that hardly ran again.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

const NODE = Number(process.versions.node.split(".")[0]);
/** From here on SQLite's interpreter runs so long that optimising it (170 ms) pays. */
const LARGE = 64 * 2 ** 20;

/** For every process, before any other code of ours runs. Later versions of V8 wait about as long by themselves. */
export function tuneEngine(): void {
  if (NODE >= 22) return;
  setFlagsFromString("--interrupt-budget=400000");
  setFlagsFromString("--wasm-tiering-budget=13000000");
}

/** For a command that asks the archive once and ends; to be called before SQLite is loaded. Versions to come may not know the flag. */
export function expectBrief(dataDir: string): void {
  if (NODE > 24 || !["x64", "arm64"].includes(process.arch)) return;
  if ((statSync(join(dataDir, "catalog.db"), { throwIfNoEntry: false })?.size ?? 0) > LARGE) return;
  setFlagsFromString("--liftoff-only");
  if (NODE < 22) setFlagsFromString("--interrupt-budget=1000000");
}
