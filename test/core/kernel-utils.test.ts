import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { BoundedMap, toEvents } from "sessarc";
import { exec, isInside, resolveInside } from "sessarc/files";
import { describe, expect, it, vi } from "vitest";
import { nearest } from "../../core/utils/text.ts";
import { isoAt } from "../../core/utils/time.ts";
import { createRing } from "../../plugins/mcp-hub/hub/ring.ts";
import { makeTempDir } from "../_setup.ts";

describe("isInside", () => {
  it.each([
    ["/x/demo", "/x/demo", true],
    ["/x/demo", "/x/demo/a", true],
    ["/x/demo", "/x/demo/..a", true],
    ["/x/demo", "/x/demo-evil", false],
    ["/x/demo", "/x/demo/../other", false],
    ["/x/demo", "/x", false],
    ["/", "/x", true],
  ])("D8: %s, %s: %s", (root, path, expected) => {
    expect(isInside(root, path)).toBe(expected);
  });
});

describe("resolveInside", () => {
  it("S4: follows every link, also of parents of what does not exist yet", async () => {
    const dir = await makeTempDir();
    const root = join(dir, "root");
    await mkdir(join(root, "sub"), { recursive: true });
    await mkdir(join(dir, "out"));
    await writeFile(join(root, "sub", "file"), "");
    await symlink(join(dir, "out"), join(root, "escape"));
    await symlink(join(root, "sub"), join(root, "inner"));
    expect(await resolveInside(root, "sub/file")).toMatch(/root\/sub\/file$/);
    expect(await resolveInside(root, "inner/new/deeper")).toMatch(/root\/sub\/new\/deeper$/);
    expect(await resolveInside(root, "escape/new")).toBeUndefined();
    expect(await resolveInside(root, "../out")).toBeUndefined();
    expect(await resolveInside(root, "/etc/passwd")).toBeUndefined();
  });
});

describe("exec", () => {
  const env = { PATH: process.env.PATH };
  const node = (script: string, options = {}) => exec(process.execPath, ["-e", script], { env, ...options });

  it("S2: hands arguments over as they are, without a shell and without our environment", async () => {
    const args = ["-e", "console.log(process.argv[1], process.env.HOME)", "$(touch x); `id` && *"];
    const { stdout } = await exec(process.execPath, args, { env });
    expect(stdout.toString()).toBe("$(touch x); `id` && * undefined\n");
  });

  it("answers exit code and both outputs, and passes input", async () => {
    const result = await node("process.stdin.pipe(process.stderr).on('close', () => 0); process.exitCode = 3", {
      input: "hello",
    });
    expect(result).toMatchObject({ code: 3, timedOut: false, truncated: false });
    expect(result.stderr.toString()).toBe("hello");
  });

  it("kills what takes too long", async () => {
    expect(await node("setInterval(() => {}, 1000)", { timeoutMs: 50 })).toMatchObject({ code: null, timedOut: true });
  });

  it("kills what writes too much and keeps the beginning", async () => {
    const result = await node("for (;;) process.stdout.write('x'.repeat(65536))", { maxBytes: 1000 });
    expect(result.truncated).toBe(true);
    expect(result.stdout.length).toBe(1000);
  });

  it("ends with its signal", async () => {
    const stop = new AbortController();
    const running = node("setInterval(() => {}, 1000)", { signal: stop.signal });
    stop.abort();
    await expect(running).rejects.toMatchObject({ name: "AbortError" });
  });

  it("D6: a program that does not exist is an error that names it", async () => {
    await expect(exec("no-such-program-here", [], { env })).rejects.toMatchObject({
      code: "COMMAND_FAILED",
      message: expect.stringContaining("no-such-program-here"),
    });
  });
});

describe("createRing", () => {
  it("keeps the newest and answers them newest first", () => {
    const ring = createRing<number>(3);
    expect(ring.newest()).toEqual([]);
    for (const n of [1, 2, 3, 4, 5]) ring.push(n);
    expect(ring.newest()).toEqual([5, 4, 3]);
    expect(ring.newest(2)).toEqual([5, 4]);
    expect(ring.size).toBe(3);
    ring.clear();
    ring.push(9);
    expect(ring.newest()).toEqual([9]);
  });

  it("refuses to hold nothing", () => {
    expect(() => createRing(0)).toThrow(RangeError);
  });
});

describe("nearest", () => {
  it.each([
    ["pluginz", "plugins"],
    ["prot", "port"],
    ["datadir", "dataDir"],
    ["hos", "host"],
    ["xyzxyz", undefined],
    ["foo", undefined],
    ["x", undefined],
  ])("%s → %s", (word, expected) => {
    expect(nearest(word, ["port", "host", "dataDir", "plugins"])).toBe(expected);
  });
});

describe("BoundedMap", () => {
  it("keeps the entries that were set last", () => {
    const map = new BoundedMap<string, number>(2);
    map.set("a", 1).set("b", 2).set("a", 3).set("c", 4);
    expect([...map]).toEqual([
      ["a", 3],
      ["c", 4],
    ]);
    expect(() => new BoundedMap(0)).toThrow(RangeError);
  });

  it("keeps those however it was used", () => {
    const step = fc.oneof(
      { weight: 20, arbitrary: fc.record({ key: fc.nat(12), change: fc.constant("set") }) },
      { weight: 3, arbitrary: fc.record({ key: fc.nat(12), change: fc.constant("delete") }) },
      { weight: 1, arbitrary: fc.record({ key: fc.nat(12), change: fc.constant("clear") }) },
    );
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 120 }), (limit, steps) => {
        const map = new BoundedMap<number, number>(limit);
        let model: number[] = [];
        for (const [n, { key, change }] of steps.entries()) {
          if (change === "clear") map.clear();
          else if (change === "delete") map.delete(key);
          else map.set(key, n);
          model = change === "clear" ? [] : model.filter((one) => one !== key);
          if (change === "set") model = [...model, key].slice(-limit);
          expect([...map.keys()]).toEqual(model);
        }
      }),
    );
  });

  it("P2: a full one looks for its oldest entry once, not again with each new one", () => {
    const map = new BoundedMap<number, number>(1_000);
    const keys = vi.spyOn(map, "keys");
    for (let n = 0; n < 10_000; n++) map.set(n, n);
    expect(map.size).toBe(1_000);
    expect(keys.mock.calls.length).toBeLessThan(10);
  });
});

describe("toEvents", () => {
  it("writes frames until it is closed, and nothing after", async () => {
    const response = toEvents(async (out) => {
      out.send({ n: 1 });
      out.send({}, "end");
      out.close();
      out.close();
      out.send({ n: 2 });
    });
    expect(response.headers.get("content-type")).toContain("text/event-stream");
    expect(await response.text()).toBe('data: {"n":1}\n\nevent: end\ndata: {}\n\n');
  });

  it("breaks off with what the writer throws", async () => {
    const response = toEvents(() => Promise.reject(new Error("no more")));
    await expect(response.text()).rejects.toThrow("no more");
  });

  it("notifies the writer that its reader is gone", async () => {
    const left = new Promise<void>((resolve) => {
      const { body } = toEvents((out) => out.gone.addEventListener("abort", () => resolve()));
      void body?.cancel();
    });
    await left;
  });
});

describe("isoAt", () => {
  it("writes times as Date does, day by day, before 1970 and far away", () => {
    const time = fc.oneof(
      fc.integer({ min: -8.64e15, max: 8.64e15 }),
      fc.integer({ min: 1_700_000_000_000, max: 1_700_000_200_000 }),
      fc.constantFrom(0, -1, 86_399_999, 86_400_000, 253_402_300_799_999, 1.5),
    );
    const times = fc.array(time, { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(times, (list) => {
        // Twice: the second finds its day known.
        for (const ms of list.flatMap((one) => [one, one])) expect(isoAt(ms)).toBe(new Date(ms).toISOString());
      }),
    );
    expect(() => isoAt(Number.NaN)).toThrow(RangeError);
  });
});
