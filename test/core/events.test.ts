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

it("one that has much ready waits for its reader, and hears when it is gone", async () => {
  const text = "z".repeat(1 << 20);
  let sent = 0;
  let ended = false;
  const write = async (count: number) => {
    sent = 0;
    ended = false;
    const response = toEvents(async ({ send, room, gone, close }) => {
      for (; sent < count && !gone.aborted; sent++) {
        await room();
        send({ text });
      }
      ended = true;
      close();
    });
    await new Promise(setImmediate);
    expect(sent).toBeLessThan(8);
    return response;
  };
  expect((await (await write(40)).text()).length).toBeGreaterThan(40 << 20);
  expect(ended).toBe(true);
  await (await write(40)).body?.cancel();
  await expect.poll(() => ended).toBe(true);
  expect(sent).toBeLessThan(10);
});
