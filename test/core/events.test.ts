import { toEvents } from "sessarc";
import { expect, it } from "vitest";

it("a reader that does not read is cut off, and its writer hears so, before it holds much memory", async () => {
  const text = "x".repeat(1 << 20);
  let sent = 0;
  const response = toEvents(async ({ send, gone }) => {
    while (!gone.aborted && sent < 100) {
      send({ text });
      sent++;
      await Promise.resolve();
    }
  });
  await expect.poll(() => sent).toBeGreaterThan(7);
  expect(sent).toBeLessThan(10);
  await expect(response.text()).rejects.toMatchObject({ name: "AbortError" });
});

it("a writer that fails ends what else it began", async () => {
  let told: AbortSignal | undefined;
  const response = toEvents(({ gone }) => {
    told = gone;
    throw new Error("no more");
  });
  await expect(response.text()).rejects.toThrow("no more");
  expect(told?.aborted).toBe(true);
});

it("one that reads gets all, however much it is", async () => {
  const text = "y".repeat(1 << 20);
  const response = toEvents(async ({ send, close }) => {
    for (let n = 0; n < 20; n++) {
      send({ n, text });
      await new Promise(setImmediate);
    }
    close();
  });
  expect((await response.text()).length).toBeGreaterThan(20 << 20);
});
