/** An uncaught error of a plugin ends nothing: it is named, counted, and the service answers. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { builtPackage, runCli, startService } from "../built.ts";

const PLUGIN = `export default () => ({
  name: "tea",
  routes: [
    { method: "GET", path: "/tea/promise", summary: "Leaves a promise", handler() { void Promise.reject(new Error("cold water")); return { ok: true }; } },
    { method: "GET", path: "/tea/timer", summary: "Leaves a timer", handler() { setTimeout(() => { throw new Error("late leaves"); }); return { ok: true }; } },
    { method: "GET", path: "/tea/library", summary: "Leaves another's", handler() { void fetch("http://127.0.0.1:1/"); return { ok: true }; } },
  ],
  hooks: { "kernel:ready": () => { setTimeout(() => { throw new Error("no pot"); }); } },
  setup() { setTimeout(async () => { throw new Error("cracked cup"); }); },
});`;

it("rejected promises and throwing timers of a plugin are reported and counted, and the service goes on", async () => {
  await builtPackage();
  const home = await makeTempDir();
  await writeFile(join(home, "tea.mjs"), PLUGIN);
  await writeFile(join(home, "sessarc.config.mjs"), 'export default { plugins: ["./tea.mjs"] };');
  const service = await startService([], home);
  interface Told {
    problems: { plugin: string; code: string; message: string; count?: number; fix: string }[];
  }
  const problems = async () => ((await (await fetch(`${service.url}api/plugins`)).json()) as Told).problems;
  for (const path of ["promise", "promise", "timer", "library"])
    expect((await fetch(`${service.url}api/tea/${path}`)).status).toBe(200);
  const reasons = ["cold water", "late leaves", "fetch failed", "no pot", "cracked cup"];
  const told = async () =>
    Promise.all(reasons.map(async (reason) => (await problems()).find(({ message }) => message.includes(reason))));
  await expect.poll(async () => (await told()).every(Boolean)).toBe(true);
  for (const one of await told()) expect(one).toMatchObject({ plugin: "tea", code: "PLUGIN_LEFT_ERROR" });
  expect((await told()).map((one) => one?.count)).toEqual([2, 1, 1, 1, 1]);
  expect((await runCli(["plugins"], home)).stdout).toMatch(/failed 2× tea: .*cold water/);
  expect((await fetch(`${service.url}api/status`)).status).toBe(200);
  expect(service.stderr()).toContain("cold water");
  expect(await service.stop()).toBe(0);
});
