/** Installed as an app, and open while the service is away: what the service worker keeps, and when it goes. */
import { cp, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig, serve } from "sessarc/serve";
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

/** The service worker of another build; with `file` among what it keeps. */
async function writeWorker(dir: string, script: string, version: string, file?: string): Promise<void> {
  const named = script.replace(/"version":"\w+"/, `"version":"${version}"`);
  const whole = file === undefined ? named : named.replace('"first":[', `"first":["/${file}",`);
  expect(whole).not.toBe(file === undefined ? script : named);
  await writeFile(join(dir, "sw.js"), whole);
}

/**
 * Loads the page until the newest caches are these, oldest first. A browser looks for an update a while after a page was loaded, when it likes
 * (here at once), tries one that failed with the next load, and gives what came over when the one before it has nothing left to do, which may
 * be minutes while a page stands.
 */
async function updated(stage: Stage, versions: readonly string[]): Promise<void> {
  const wanted = versions.map((version) => NAME + version);
  for (let tries = 0; tries < 12; tries++) {
    await stage.page.goto("about:blank");
    await open(stage, "/");
    await stage.page.evaluate(async () => void (await (await navigator.serviceWorker.ready).update()));
    if ((await stands(stage)) === String(wanted)) return;
  }
  expect((await kept(stage)).names).toEqual(wanted);
}
/** Names of the caches once no worker is on its way; undefined where one still is after five seconds. */
async function stands(stage: Stage): Promise<string | undefined> {
  const look = () =>
    stage.page.evaluate(async () => {
      const { installing, waiting, active } = await navigator.serviceWorker.ready;
      return installing || waiting || active?.state !== "activated" ? undefined : String(await caches.keys());
    });
  const until = performance.now() + 5_000;
  for (;;) {
    const names = await look();
    if (names !== undefined || performance.now() > until) return names;
    await sleep(50);
  }
}
const NAME = "sessarc-shell-";

/** As a browser that was never here: a try after one that failed begins as that did. */
async function forgetApp(stage: Stage): Promise<void> {
  await stage.page.goto(`${stage.url}/favicon.svg`);
  await stage.page.evaluate(async () => {
    for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
    for (const name of await caches.keys()) await caches.delete(name);
  });
}

/** The service at the stage's address, with another build of the dashboard. */
async function serveBuild(stage: Stage, dir: string): Promise<() => Promise<void>> {
  const env = testEnv(stage.home);
  const flags = { port: Number(new URL(stage.url).port), dataDir: join(await makeTempDir(), "data") };
  const config = await loadConfig({ cwd: stage.home, env, flags });
  const served = await serve({ config, env, plugins: [archive(), dashboard({ dir })], log: () => {}, graceMs: 200 });
  return () => served.close();
}

/** The stage's own build is kept and its service away; a copy of it to be served as another. */
async function leftForBuilds(stage: Stage): Promise<{ first: string; script: string; dir: string }> {
  await forgetApp(stage);
  await open(stage, "/");
  await active(stage);
  const [first = ""] = (await kept(stage)).names;
  const script = await (await fetch(`${stage.url}/sw.js`)).text();
  await stage.served.close();
  onTestFinished(() => stage.start());
  const dir = join(await makeTempDir(), "ui");
  await cp(DASHBOARD, dir, { recursive: true });
  return { first: first.slice(NAME.length), script, dir };
}

describeUi("dashboard: as an app", () => {
  const get = useStage({ worker: true });

  it("is served with a manifest, icons and a worker that is checked each time", async () => {
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

  it("opens while the service is away, reports it, and recovers; nothing of the API is kept", async () => {
    const stage = get();
    const { page } = stage;
    await forgetApp(stage);
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
    await page.getByRole("heading", { name: /^Code/, level: 1 }).waitFor();
    await page.getByText(/^Reconnecting \(\d+ s\)$/).waitFor();
    expect(await violations(stage)).toEqual([]);
    // Another screen: its script was kept with the rest.
    await page.getByRole("link", { name: "Tools", exact: true }).click();
    await page.getByRole("heading", { name: "Tools", level: 1 }).waitFor();
    await page.goBack();
    // A notice goes after seconds: it is awaited from before.
    await Promise.all([page.getByText("Connected again").waitFor(), stage.start()]);
    await page.getByRole("link", { name: "tidepool" }).waitFor();
    expect(stage.problems().filter((one) => one.startsWith("foreign") || one.startsWith("page"))).toEqual([]);
  });

  it("keeps this build and the one before it, no older ones; one that comes back is the newest", async () => {
    const stage = get();
    const { first, script, dir } = await leftForBuilds(stage);
    for (const [version, before] of [
      ["b2", first],
      ["b3", "b2"],
      ["b2", "b3"],
    ] as const) {
      await writeWorker(dir, script, version);
      const close = await serveBuild(stage, dir);
      try {
        await updated(stage, [before, version]);
      } finally {
        await close();
      }
    }
    // The newest build is what opens now.
    await stage.page.goto(`${stage.url}/nowhere`);
    await stage.page.getByRole("navigation", { name: "Main" }).waitFor();
    stage.problems();
  });

  it("keeps nothing of a build that does not come whole, and takes it with a later load", async () => {
    const stage = get();
    const { first, script, dir } = await leftForBuilds(stage);
    const late = "assets/late-1.js";
    await writeWorker(dir, script, "b2", late);
    const close = await serveBuild(stage, dir);
    try {
      await open(stage, "/");
      const states = await stage.page.evaluate(async () => {
        const registration = await navigator.serviceWorker.ready;
        const seen: string[] = [];
        const failed = new Promise<void>((resolve) => {
          const follow = (worker: ServiceWorker | null) => {
            const note = () => {
              if (worker) seen.push(worker.state);
              if (worker?.state === "redundant") resolve();
            };
            worker?.addEventListener("statechange", note);
            note();
          };
          registration.addEventListener("updatefound", () => follow(registration.installing));
          follow(registration.installing);
        });
        await registration.update();
        await failed;
        return seen;
      });
      expect(states.at(-1)).toBe("redundant");
      expect((await kept(stage)).names).toEqual([NAME + first]);
      await writeFile(join(dir, late), "");
      await updated(stage, [first, "b2"]);
      expect((await kept(stage)).urls).toContain(`/${late}`);
    } finally {
      await close();
    }
    stage.problems();
  });

  it("goes, with all it kept, when another program answers on this port", async () => {
    const stage = get();
    const { page } = stage;
    await forgetApp(stage);
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
