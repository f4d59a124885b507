/** Installed as an app, and open while the service is away: what the service worker keeps, and when it goes. */
import { cp, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { loadConfig, serve } from "sessarc";
import { expect, it, onTestFinished } from "vitest";
import archive from "../../plugins/archive/index.ts";
import dashboard from "../../plugins/dashboard/index.ts";
import { makeTempDir } from "../_setup.ts";
import { DASHBOARD } from "../built.ts";
import { testEnv } from "../kernel.ts";
import { violations } from "./axe.ts";
import { describeUi, type Stage, useStage } from "./browser.ts";

/** Every address in every cache of this origin, and the names of the caches. */
const kept = ({ page }: Stage) =>
  page.evaluate(async () => {
    const names = await caches.keys();
    const all = await Promise.all(names.map(async (name) => (await caches.open(name)).keys()));
    return { names, urls: all.flat().map((one) => one.url.slice(location.origin.length)) };
  });
const active = async ({ page }: Stage) => {
  const state = () => page.evaluate(async () => (await navigator.serviceWorker.ready).active?.state);
  await expect.poll(state).toBe("activated");
};
/** What passes by a worker is not always told as answered: the heading is what is waited for. */
async function open({ page, url }: Stage, path: string): Promise<void> {
  await page.goto(url + path);
  await page.locator("main h1").first().waitFor({ state: "attached" });
}

/** The service at the stage's address, with another build of the dashboard. */
async function serveBuild(stage: Stage, script: string, version: string): Promise<() => Promise<void>> {
  const dir = join(await makeTempDir(), "ui");
  await cp(DASHBOARD, dir, { recursive: true });
  await writeFile(join(dir, "sw.js"), script.replace(/"version":"\w+"/, `"version":"${version}"`));
  const env = testEnv(stage.home);
  const flags = { port: Number(new URL(stage.url).port), dataDir: join(dir, "../data") };
  const config = await loadConfig({ cwd: stage.home, env, flags });
  const served = await serve({ config, env, plugins: [archive(), dashboard({ dir })], log: () => {}, graceMs: 200 });
  return () => served.close();
}

describeUi("dashboard: as an app", () => {
  const get = useStage({ worker: true });

  it("is served with a manifest, icons and a worker that is looked at each time", async () => {
    const { url } = get();
    const head = async (path: string) => {
      const { status, headers } = await fetch(url + path);
      return [status, headers.get("content-type"), headers.get("cache-control")];
    };
    expect(await head("/manifest.webmanifest")).toEqual([200, "application/manifest+json; charset=utf-8", "no-cache"]);
    expect(await head("/sw.js")).toEqual([200, "text/javascript; charset=utf-8", "no-cache"]);
    const manifest = (await (await fetch(`${url}/manifest.webmanifest`)).json()) as {
      start_url: string;
      display: string;
      icons: { src: string; type: string }[];
    };
    expect(manifest).toMatchObject({ start_url: "/", display: "standalone" });
    for (const { src, type } of manifest.icons) expect(await head(src)).toEqual([200, type, "no-cache"]);
    const policy = (await fetch(url)).headers.get("content-security-policy");
    expect(policy).toContain("worker-src 'self'; manifest-src 'self'");
  });

  it("opens while the service is away, says so, and comes back by itself; nothing of the API is kept", async () => {
    const stage = get();
    const { page } = stage;
    await open(stage, "/projects?token=secret");
    await active(stage);
    // Loaded through the worker: its answers would be kept now.
    await open(stage, "/projects?token=secret");
    await page.getByRole("link", { name: "tidepool" }).waitFor();
    const { urls } = await kept(stage);
    expect(urls).toContain("/");
    const others = urls.filter(
      (path) => path !== "/" && !/^\/(assets\/[\w.-]+|[\w-]+\.(js|png|svg|webmanifest))$/.test(path),
    );
    expect(others).toEqual([]);

    await stage.served.close();
    await page.goto(`${stage.url}/projects`);
    await page.getByRole("heading", { name: "Projects", level: 1 }).waitFor();
    await page.getByText(/^Reconnecting \(\d+ s\)$/).waitFor();
    expect(await violations(stage)).toEqual([]);
    // Another screen: its script was kept with the rest.
    await page.getByRole("link", { name: "Security", exact: true }).click();
    await page.getByRole("heading", { name: "Security", level: 1 }).waitFor();
    await page.goBack();
    await stage.start();
    await page.getByText("Connected again").waitFor();
    await page.getByRole("link", { name: "tidepool" }).waitFor();
    expect(stage.problems().filter((one) => one.startsWith("foreign") || one.startsWith("page"))).toEqual([]);
  });

  it("keeps this build and the one before it, no older ones", async () => {
    const stage = get();
    await open(stage, "/");
    await active(stage);
    const [first] = (await kept(stage)).names;
    const script = await (await fetch(`${stage.url}/sw.js`)).text();
    await stage.served.close();
    onTestFinished(() => stage.start());
    for (const version of ["b2", "b3"]) {
      const close = await serveBuild(stage, script, version);
      try {
        await open(stage, "/");
        // The browser looks for an update a while after a page was loaded, when it likes; here at once.
        await stage.page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
        await expect.poll(async () => (await kept(stage)).names.at(-1)).toBe(`sessarc-shell-${version}`);
        await expect.poll(async () => (await kept(stage)).names.length).toBe(2);
      } finally {
        await close();
      }
      if (version === "b2") expect((await kept(stage)).names[0]).toBe(first);
    }
    expect((await kept(stage)).names).toEqual(["sessarc-shell-b2", "sessarc-shell-b3"]);
    // The newest build is what opens now.
    await stage.page.goto(`${stage.url}/nowhere`);
    await stage.page.getByRole("navigation", { name: "Main" }).waitFor();
    stage.problems();
  });

  it("goes, with all it kept, when another program answers on this port", async () => {
    const stage = get();
    const { page } = stage;
    await open(stage, "/");
    await active(stage);
    await stage.served.close();
    onTestFinished(() => stage.start());
    const other = createServer((request, response) => {
      const isPage = request.url === "/";
      response.writeHead(isPage ? 200 : 404, { "content-type": "text/html" }).end(isPage ? "<h1>Another</h1>" : "");
    });
    await new Promise<void>((resolve) => other.listen(Number(new URL(stage.url).port), "127.0.0.1", resolve));
    try {
      await page.goto(`${stage.url}/`);
      expect(await page.locator("h1").innerText()).toBe("Another");
      const left = () =>
        page.evaluate(async () => [
          ...(await caches.keys()),
          ...(await navigator.serviceWorker.getRegistrations()).map((one) => one.scope),
        ]);
      await expect.poll(left).toEqual([]);
    } finally {
      other.closeAllConnections();
      await new Promise((resolve) => other.close(resolve));
    }
    stage.problems();
  });
});
