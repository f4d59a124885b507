/** Work that waits: queues, limits and lanes. */
import { describe, expect, it } from "vitest";
import { createLimit, createQueue, eachInLanes } from "../../core/utils/queue.ts";
import { deferred } from "../_setup.ts";

describe("a queue", () => {
  it("runs one at a time in the order of the calls, also after a failure", async () => {
    const queue = createQueue();
    const order: string[] = [];
    const gate = deferred<void>();
    const first = queue(async () => {
      await gate.promise;
      order.push("first");
      throw new Error("first failed");
    });
    const second = queue(() => order.push("second"));
    gate.resolve();
    await expect(first).rejects.toThrow("first failed");
    await second;
    expect(order).toEqual(["first", "second"]);
  });

  it("is idle when what was queued has ended, whether it failed or not", async () => {
    const queue = createQueue();
    let ended = 0;
    const failing = queue(async () => {
      ended++;
      throw new Error("no");
    });
    failing.catch(() => {});
    void queue(() => ended++);
    await queue.idle();
    expect(ended).toBe(2);
  });
});

describe("a limit", () => {
  it("runs as many at once as it has places, the next one when a place is free", async () => {
    const limit = createLimit(2);
    const gates = [deferred<void>(), deferred<void>(), deferred<void>()];
    const begun: number[] = [];
    const all = gates.map((gate, i) =>
      limit(async () => {
        begun.push(i);
        await gate.promise;
      }),
    );
    await limit.enter(AbortSignal.abort(new Error("gone"))).catch(() => {});
    expect(begun).toEqual([0, 1]);
    gates[1]?.resolve();
    await all[1];
    await expect.poll(() => begun).toEqual([0, 1, 2]);
    for (const gate of gates) gate.resolve();
    await Promise.all(all);
  });

  it("gives no place to a caller that left, and frees a place once", async () => {
    const limit = createLimit(1);
    const release = await limit.enter();
    const gone = new AbortController();
    const left = limit.enter(gone.signal);
    const next = limit.enter();
    gone.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    release();
    release();
    (await next)();
    await limit.enter();
  });

  it("frees the place of slow work, which continues", async () => {
    const limit = createLimit(1, { slowMs: 1 });
    const gate = deferred<string>();
    const slow = limit(() => gate.promise);
    expect(await limit(() => "next")).toBe("next");
    gate.resolve("slow");
    expect(await slow).toBe("slow");
  });
});

it("lanes share a list, and a failure is thrown when all has ended", async () => {
  const done: number[] = [];
  const run = eachInLanes([1, 2, 3, 4], 2, async (item) => {
    if (item === 2) throw new Error("two");
    await null;
    done.push(item);
  });
  await expect(run).rejects.toThrow("two");
  expect(done).toEqual([1, 3, 4]);
});
