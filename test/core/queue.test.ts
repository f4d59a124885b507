import { expect, it } from "vitest";
import { createQueue } from "../../core/serve/queue.ts";

it("a command waits for each new owner of the archive, and not for ever for one", () => {
  let now = 0;
  const queue = createQueue(() => now);
  for (const owner of ["a", "b", "c"]) {
    queue.see(owner);
    now += 9_000;
    queue.see(owner);
    expect(queue.waits()).toBe(true);
  }
  now += 1_000;
  queue.see("c");
  expect(queue.waits()).toBe(false);
});
