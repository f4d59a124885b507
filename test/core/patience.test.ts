import { expect, it } from "vitest";
import { createPatience } from "../../core/serve/patience.ts";

it("a command waits for each new owner of the archive, and not for ever for one", () => {
  let now = 0;
  const patience = createPatience(() => now);
  for (const owner of ["a", "b", "c"]) {
    patience.see(owner);
    now += 9_000;
    patience.see(owner);
    expect(patience.waits()).toBe(true);
  }
  now += 1_000;
  patience.see("c");
  expect(patience.waits()).toBe(false);
});
