/** Child processes of sessarc, and what they start; failures that belong to their caller. */
import { join } from "node:path";
import { definePlugin, defineRoute } from "sessarc";
import { exec } from "sessarc/files";
import { createClient, loadConfig, serve } from "sessarc/serve";
import { describe, expect, it, onTestFinished } from "vitest";
import { makeTempDir } from "../_setup.ts";
import { testEnv } from "../kernel.ts";

const isThere = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

describe.skipIf(process.platform === "win32")("exec", () => {
  const env = { PATH: process.env.PATH };

  it("a time-out holds for what the child started, too", async () => {
    const run = (timeoutMs: number) => exec("sh", ["-c", "sleep 300 & echo $!; wait"], { env, timeoutMs });
    let ran = await run(300);
    // On a busy machine a shell may need longer than that before it says anything.
    for (let ms = 600; ran.stdout.length === 0; ms *= 2) ran = await run(ms);
    expect(ran).toMatchObject({ timedOut: true, code: null });
    const grandchild = Number(ran.stdout.toString());
    expect(grandchild).toBeGreaterThan(0);
    await expect.poll(() => isThere(grandchild)).toBe(false);
  });

  it("does not wait for a child of the child that took a session of its own", async () => {
    const ran = await exec("sh", ["-c", "setsid sleep 60 & echo started; wait"], { env, timeoutMs: 300 });
    expect(ran.timedOut).toBe(true);
  });
});

it("a failed start is the caller's to hear, and ends nothing", async () => {
  const unheard: unknown[] = [];
  const take = (error: unknown) => void unheard.push(error);
  process.on("unhandledRejection", take);
  onTestFinished(() => void process.off("unhandledRejection", take));
  const home = await makeTempDir();
  const env = testEnv(home);
  const config = await loadConfig({ cwd: home, env, flags: { port: 0, dataDir: join(home, "data") } });
  const plugins = [definePlugin({ name: "lonely", dependsOn: ["nobody"] })()];
  await expect(serve({ config, env, plugins, log: () => {} })).rejects.toMatchObject({ code: "PLUGIN_MISSING" });
  expect(unheard).toEqual([]);
});

it("a route that reads its request passes errors to a caller in this process as errors", async () => {
  const home = await makeTempDir();
  const env = testEnv(home);
  const config = await loadConfig({ cwd: home, env, flags: { port: 0, dataDir: join(home, "data") } });
  const looks = defineRoute({
    method: "GET",
    path: "/looks",
    summary: "Looks at its request and fails",
    handler: ({ event }) => new Response(`{"message":"no ${event.url.pathname}"}`, { status: 404 }),
  });
  const client = createClient({ config, env, plugins: [definePlugin({ name: "looks", routes: [looks] })()] });
  onTestFinished(() => client.close());
  await expect(client.get("/looks")).rejects.toMatchObject({ name: "ApiError", message: "no /api/looks" });
});
