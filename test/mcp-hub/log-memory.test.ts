/** The hub's log keeps the beginning of what it heard, and none of the rest. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createHubLog } from "../../plugins/mcp-hub/hub/log.ts";

it("a thousand answers of a megabyte take no more than what is shown of them", () => {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  const log = createHubLog();
  gc();
  const before = process.memoryUsage();
  for (let i = 0; i < 1_000; i++) {
    // As JSON.parse makes them: one string each.
    const payload = JSON.parse(JSON.stringify({ result: { content: [{ text: `${i}${"x".repeat(1 << 20)}` }] } }));
    const entry = { direction: "in", service: "s", session: "s", method: "tools/call", id: i, ms: 1, status: "ok" };
    log.add({ ...entry, payload } as unknown as Parameters<typeof log.add>[0]);
    if (i % 50 === 0) gc();
  }
  gc();
  const after = process.memoryUsage();
  expect(log.newest(2_000)).toHaveLength(1_000);
  expect((after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20).toBeLessThan(40);
});
