/** `npm run shots`: the README's pictures, taken of the real screens over the sample data, in both themes. Needs a build and a chromium. */
import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const OUT = here("../pictures");
const executablePath =
  process.env.CHROMIUM ??
  (process.platform === "linux" ? "/usr/bin/chromium" : "/Applications/Chromium.app/Contents/MacOS/Chromium");

const service = spawn(process.execPath, [here("../../dist/cli.mjs"), "serve", "--demo", "--no-open", "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const url = await addressOf(service.stdout);
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    await take(browser, url);
  } finally {
    await browser.close();
  }
} finally {
  service.kill("SIGTERM");
}

/** What the service prints once it answers. */
async function addressOf(output) {
  let text = "";
  for await (const chunk of output) {
    text += chunk;
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(text);
    if (found) return found[0];
  }
  throw new Error("The service ended before it answered");
}

async function take(browser, url) {
  const { sessions } = await (await fetch(`${url}/api/sessions?limit=200`)).json();
  const session = sessions.find(({ title, name }) => `${name} ${title}`.includes("High and low water"));
  if (!session) throw new Error("The sample data lacks its longest session");
  const id = encodeURIComponent(session.id);
  await fetch(`${url}/api/replay/start`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ sessionId: session.id }),
  });
  const screens = {
    home: "/?days=30",
    session: `/sessions/${id}?m=17&pane=diff`,
    search: "/search?q=tide",
    replay: `/replay/${id}`,
  };
  await mkdir(OUT, { recursive: true });
  for (const colorScheme of ["light", "dark"]) {
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      colorScheme,
      reducedMotion: "reduce",
      locale: "en-GB",
      serviceWorkers: "block",
    });
    const page = await context.newPage();
    for (const [name, path] of Object.entries(screens)) {
      await page.goto(url + path);
      await page.waitForLoadState("networkidle");
      await page.evaluate(() => document.fonts.ready);
      await page.screenshot({ path: `${OUT}/${name}-${colorScheme}.png` });
    }
    await context.close();
  }
}
