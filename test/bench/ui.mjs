/**
 * Budgets of the dashboard: sizes from the build's manifest, all else from a real browser over a service with 100,000 messages in five
 * sessions. Each row says ok or OVER; one OVER is an exit code of 1. Run it on a quiet machine.
 * Usage: node test/bench/ui.mjs [--sizes]   needs dist/ (npm run build) and chromium (CHROMIUM=…).
 */
import { diff } from "./ui/diff.mjs";
import { floor, scroll } from "./ui/scroll.mjs";
import { jumpAndHeap, openLong } from "./ui/session.mjs";
import { sizes } from "./ui/sizes.mjs";
import { openStage } from "./ui/stage.mjs";
import { tail } from "./ui/tail.mjs";
import { home, routes, search, walk } from "./ui/walk.mjs";

const rows = [];
/** A figure and the most it may be; without a limit it is reported, not judged. */
const row = (name, value, unit, limit) => {
  const ok = limit === undefined || value <= limit;
  rows.push(ok);
  const head = limit === undefined ? "    " : ok ? "ok  " : "OVER";
  const most = limit === undefined ? "" : `  (at most ${limit})`;
  console.log(`${head} ${name.padEnd(58)} ${String(Number(value.toFixed(1))).padStart(9)} ${unit}${most}`);
};

sizes(row);
const stage = process.argv.includes("--sizes") ? undefined : await openStage();
if (stage) {
  try {
    await home(stage, row);
    await openLong(stage, row);
    await floor(stage, row);
    await scroll(stage, row);
    await jumpAndHeap(stage, row);
    await walk(stage, row);
    await routes(stage, row);
    await search(stage, row);
    await diff(stage, row);
    await tail(stage, row);
    row("requests to other origins", stage.foreign(), "", 0);
  } finally {
    await stage.close();
  }
}
process.exitCode = rows.every((ok) => ok) ? 0 : 1;
