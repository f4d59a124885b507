/** What stays in memory: the newest entries, and answers that are computed once. */
import { expect, it } from "vitest";
import { BoundedMap } from "../../core/utils/bounded.ts";
import { createCache } from "../../core/utils/cache.ts";
import { deferred } from "../_setup.ts";

it("a bounded map keeps what was used last", () => {
  const map = new BoundedMap<string, number>(2, [
    ["a", 1],
    ["b", 2],
  ]);
  expect(map.use("a")).toBe(1);
  expect(map.use("x")).toBeUndefined();
  map.set("c", 3);
  expect([...map.keys()]).toEqual(["a", "c"]);
});

it("a cache computes an answer once for concurrent callers, again for another stamp, and retains no failure", async () => {
  const cache = createCache<string>(2);
  let made = 0;
  const gate = deferred<void>();
  const make = async () => {
    made++;
    await gate.promise;
    return `answer ${made}`;
  };
  const two = [cache.get("a", make, 1), cache.get("a", make, 1)];
  gate.resolve();
  expect(await Promise.all(two)).toEqual(["answer 1", "answer 1"]);
  expect(await cache.get("a", make, 2)).toBe("answer 2");
  const fails = () => Promise.reject(new Error("no"));
  await expect(cache.get("b", fails)).rejects.toThrow("no");
  expect(await cache.get("b", make)).toBe("answer 3");
  cache.clear();
  expect(await cache.get("b", make)).toBe("answer 4");
});

it("a cache holds the answers that were asked for last", async () => {
  const cache = createCache<string>(2);
  let made = 0;
  const make = async () => String(++made);
  for (const key of ["a", "b", "a", "c"]) await cache.get(key, make);
  expect(await cache.get("a", make)).toBe("1");
  expect(await cache.get("b", make)).toBe("4");
});
