/** Comparing 5,000 lines in the worker the page uses. */
import { scriptsOf } from "./sizes.mjs";

export async function diff({ page, url }, row) {
  const worker = [...scriptsOf().keys()].find((name) => /^assets\/diff-worker-.*\.js$/.test(name));
  if (!worker) throw new Error("The build has no diff worker");
  await page.goto(url);
  const times = await page.evaluate(async (path) => {
    const lines = Array.from({ length: 5_000 }, (_, i) => `const row${i} = compute(${i * 7}, "${i % 13}");`);
    const before = lines.join("\n");
    // Every tenth line differs, every fiftieth is gone.
    const after = lines
      .flatMap((line, i) => (i % 50 === 1 ? [] : [i % 10 === 0 ? `${line} // changed` : line]))
      .join("\n");
    const made = new Worker(path, { type: "module" });
    const ask = (id, text) =>
      new Promise((resolve) => {
        const from = performance.now();
        made.onmessage = ({ data }) => resolve({ ms: performance.now() - from, hunks: data.hunks?.length ?? null });
        made.postMessage({ id, before, after: text, context: 3 });
      });
    await ask(0, before);
    const normal = [await ask(1, after), await ask(2, after), await ask(3, after)];
    // Nothing in common: the worst there is.
    const worst = await ask(4, lines.map((_, i) => `let other${i} = ${i}`).join("\n"));
    made.terminate();
    return { normal, worst };
  }, `/${worker}`);
  if (times.normal.some((one) => !one.hunks)) throw new Error("The worker gave up on 5,000 lines");
  row("diff of 5,000 lines in the worker, slowest of 3", Math.max(...times.normal.map((one) => one.ms)), "ms", 150);
  row("diff of 5,000 lines with nothing in common", times.worst.ms, "ms", 300);
}
