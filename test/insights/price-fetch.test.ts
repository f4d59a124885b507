/** The published price table: nothing is requested without a consent; what a server answers is checked, bounded and followed only to safe places. */
import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import type * as Table from "@pydantic/genai-prices";
import { createTestKernel } from "sessarc/test";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import type { PriceList } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";
import { ADDRESS } from "../../plugins/insights/prices/config.ts";
import { makeTempDir, serveTest } from "../_setup.ts";
import { runCommand } from "../command.ts";

const NOW = new Date("2026-11-28T12:00:00Z");
const DAY = 86_400_000;
const MODEL = "model-of-tomorrow";
const providers = (output = 7) => [
  {
    id: "acme",
    model_match: { contains: "tomorrow" },
    models: [{ id: MODEL, match: { equals: MODEL }, prices: { input_mtok: 2, output_mtok: output } }],
  },
];
function today(now: Date): void {
  vi.useFakeTimers({ toFake: ["Date"], now });
  onTestFinished(() => void vi.useRealTimers());
}

interface Site {
  url: string;
  /** `GET /data.json`, with the tag that was sent. */
  seen: { path: string; tag: string | undefined }[];
  /** Answers from now on. */
  answer: RequestListener;
}

async function serveTable(answer: RequestListener = tagged()): Promise<Site> {
  const site: Site = { url: "", seen: [], answer };
  const server = createServer((request, response) => {
    site.seen.push({ path: request.url ?? "", tag: request.headers["if-none-match"] });
    site.answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  site.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data.json`;
  return site;
}

/** A server that knows its tag. */
const tagged =
  (tag = '"one"', body: unknown = providers(), headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    const known = request.headers["if-none-match"] === tag;
    response.writeHead(known ? 304 : 200, { etag: tag, ...headers });
    response.end(known ? undefined : JSON.stringify(body));
  };

const plugins = () => [archive(), insights(), claude()];
type Refused = { code: string; message: string; fix: string };

async function boot(site: Site, update: "weekly" | "never" = "never", home?: string) {
  const dir = home ?? (await makeTempDir());
  const config = { priceTable: { update, address: site.url } };
  // A setting that a file says can be changed; a file is read once in a process.
  if (home === undefined)
    await writeFile(join(dir, "sessarc.config.mjs"), `export default ${JSON.stringify(config)};\n`);
  const t = await createTestKernel({ plugins: plugins(), home: dir, ...(home !== undefined && { config }) });
  const online = async () => (await t.json<PriceList>("/api/prices")).online;
  const get = async (consent?: string) => {
    const body = consent === undefined ? {} : { consent };
    const answer = await t.send<PriceList & Refused>("POST", "/api/prices/table/fetch", body);
    // A server that fails is an error of the gateway, and no other one.
    expect(t.errors.splice(0)).toHaveLength(answer.status >= 500 ? 1 : 0);
    return answer;
  };
  return { t, online, get };
}

/** One reply with a million tokens of output of a model without a price. */
async function writeLog(home: string): Promise<void> {
  const file = join(home, ".claude/projects/-w-app/0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl");
  await mkdir(dirname(file), { recursive: true });
  const usage = { input_tokens: 0, output_tokens: 1_000_000 };
  const message = { id: "a", role: "assistant", model: MODEL, content: [{ type: "text", text: "x" }], usage };
  const reply = { type: "assistant", uuid: "a", timestamp: "2026-03-02T10:00:00Z", requestId: "a", message };
  await writeFile(file, `${JSON.stringify(reply)}\n`);
}

it("the default address is the one that the package itself reads", () => {
  const require = createRequire(import.meta.url);
  expect((require("@pydantic/genai-prices") as typeof Table).REMOTE_DATA_JSON_URL).toBe(ADDRESS);
});

it("fetches after a consent to exactly the configured address, sends the tag, and counts by the new table at once", async () => {
  today(NOW);
  const site = await serveTable();
  const { t, get, online } = await boot(site);
  expect(await get()).toMatchObject({ status: 409, body: { code: "PRICE_CONSENT_NEEDED" } });
  expect(await get("https://elsewhere.test/data.json")).toMatchObject({ status: 409 });
  expect(site.seen).toEqual([]);
  expect(await online()).toMatchObject({ address: site.url, update: "never", consent: null, next: null });

  const at = NOW.toISOString();
  const first = await get(site.url);
  expect(first).toMatchObject({
    status: 200,
    body: {
      ...{ pricedAt: "2026-11-28", source: site.url, tableModels: 1, shipped: { inForce: false } },
      online: { consent: at, fetchedAt: at, checkedAt: at, next: null, failure: null },
    },
  });
  vi.setSystemTime(new Date(NOW.getTime() + DAY));
  const later = new Date(NOW.getTime() + DAY).toISOString();
  expect(await get()).toMatchObject({ body: { pricedAt: "2026-11-28", online: { fetchedAt: at, checkedAt: later } } });
  site.answer = tagged('"two"', providers(8));
  expect(await get()).toMatchObject({ body: { pricedAt: "2026-11-29", online: { fetchedAt: later } } });
  expect(site.seen.map(({ tag }) => tag)).toEqual([undefined, '"one"', '"one"']);

  // With another table in force the tag says nothing.
  await t.send("DELETE", "/api/prices/table");
  expect(await online()).toMatchObject({ fetchedAt: null, checkedAt: null });
  expect(await get()).toMatchObject({ body: { shipped: { inForce: false } } });
  expect(site.seen.at(-1)?.tag).toBeUndefined();

  // Withdrawn, and not forgotten after a restart.
  expect(await t.send("DELETE", "/api/prices/table/consent")).toMatchObject({ body: { online: { consent: null } } });
  await t.close();
  const again = await boot(site, "weekly", t.home);
  expect(await again.get()).toMatchObject({ status: 409, body: { code: "PRICE_CONSENT_NEEDED" } });
  await again.t.kernel.inject("price-table").fetchIfDue();
  expect(site.seen).toHaveLength(4);
  // The table that was fetched is still in force.
  expect(await again.t.json("/api/prices")).toMatchObject({ tableModels: 1, online: { fetchedAt: later, next: null } });
});

it("a consent is for one address: another one in the configuration is asked for again", async () => {
  const [site, other] = [await serveTable(), await serveTable()];
  const { t, get } = await boot(site);
  await get(site.url);
  await t.close();
  const again = await boot(other, "weekly", t.home);
  expect(await again.online()).toMatchObject({ address: other.url, consent: null, next: null });
  await again.t.kernel.inject("price-table").fetchIfDue();
  expect(await again.get()).toMatchObject({ status: 409 });
  expect(other.seen).toEqual([]);
});

describe("what a server answers wrong is refused in words, and changes nothing", () => {
  const redirect =
    (to: string): RequestListener =>
    (request, response) =>
      request.url?.startsWith("/data.json")
        ? response.writeHead(302, { location: to }).end()
        : tagged()(request, response);
  const body =
    (text: string): RequestListener =>
    (_, response) =>
      void response.end(text);
  const large: RequestListener = (_, response) => {
    const piece = Buffer.alloc(2 ** 16, " ");
    let sent = 0;
    const send = () => {
      while (sent < 6 * 2 ** 20 && !response.destroyed) {
        sent += piece.length;
        if (!response.write(piece)) return void response.once("drain", send);
      }
      response.end();
    };
    send();
  };
  it.each<[string, RequestListener, string, string]>([
    ["a status", (_, response) => void response.writeHead(500).end(), "PRICE_FETCH_FAILED", "answered 500"],
    ["304 to no tag", (_, response) => void response.writeHead(304).end(), "PRICE_FETCH_FAILED", "answered 304"],
    ["6 MB", large, "PRICE_FETCH_FAILED", "answered more than 5 MB"],
    ["broken JSON", body('[{"id":'), "PRICE_FETCH_FAILED", "is not JSON"],
    ["an object", body("{}"), "PRICE_TABLE_INVALID", "is not a list"],
    ["a wrong shape", body('[{"id":"a","models":[{}]}]'), "PRICE_TABLE_INVALID", "[0].models[0].id"],
    ["nothing", body(""), "PRICE_FETCH_FAILED", "is not JSON"],
    ["a redirect to http", redirect("http://example.test/data.json"), "PRICE_FETCH_FAILED", "which is not https"],
    ["a redirect to a file", redirect("file:///etc/passwd"), "PRICE_FETCH_FAILED", "which is not https"],
    [
      "a redirect with a password",
      redirect("https://a:b@example.test/"),
      "PRICE_FETCH_FAILED",
      "user name or password",
    ],
    ["a loop", redirect("/data.json?again"), "PRICE_FETCH_FAILED", "redirects more than 3 times"],
    [
      "an older table",
      tagged('"old"', providers(), { "last-modified": "Mon, 01 Jun 2026 00:00:00 GMT" }),
      "PRICE_TABLE_OLDER",
      "is of 2026-06-01, older than the one in force, which is of 2026-09-23",
    ],
    ["a cut answer", (_, response) => void response.write("[", () => response.destroy()), "PRICE_FETCH_FAILED", ""],
  ])("%s", async (_name, answer, code, message) => {
    const site = await serveTable(answer);
    const { t, get, online } = await boot(site);
    const { status, body } = await get(site.url);
    expect(body).toMatchObject({ code, message: expect.stringContaining(message), fix: expect.any(String) });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(site.seen.length).toBeLessThanOrEqual(4);
    expect(await t.json("/api/prices")).toMatchObject({ shipped: { inForce: true } });
    expect((await online()).failure?.reason).toBe(body.message);
    // The next good answer ends it.
    site.answer = tagged();
    expect(await get()).toMatchObject({ body: { online: { failure: null } } });
  });

  it("a redirect to a path of the same machine is followed", async () => {
    const site = await serveTable(redirect("/elsewhere.json"));
    const { get } = await boot(site);
    expect(await get(site.url)).toMatchObject({ status: 200, body: { tableModels: 1 } });
    expect(site.seen.map(({ path }) => path)).toEqual(["/data.json", "/elsewhere.json"]);
  });

  it("a server that is not there", async () => {
    const site = await serveTable();
    const { get } = await boot({ ...site, url: "http://127.0.0.1:9/data.json" });
    expect(await get("http://127.0.0.1:9/data.json")).toMatchObject({
      status: 502,
      body: { code: "PRICE_FETCH_FAILED", message: expect.stringContaining("cannot be reached") },
    });
  });

  it("a body that does not end is given up after 30 seconds", async () => {
    let begin = () => {};
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const site = await serveTable((_, response) => void response.write("[", begin));
    const { get } = await boot(site);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const answer = get(site.url);
    await begun;
    vi.advanceTimersByTime(30_000);
    expect(await answer).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining("did not send the whole table within 30 seconds") },
    });
  });
});

it.each(["http://example.test/data.json", "https://a:b@example.test/", "ftp://example.test/", "data.json"])(
  "the address %s is refused",
  async (address) => {
    const config = { priceTable: { address } };
    await expect(createTestKernel({ plugins: plugins(), config })).rejects.toMatchObject({ code: "CONFIG_INVALID" });
  },
);

it("weekly: the service fetches once a week, an unreachable server is tried the next day, and the reason is shown", async () => {
  today(NOW);
  const site = await serveTable();
  const { t, online, get } = await boot(site, "weekly");
  const { fetchIfDue } = t.kernel.inject("price-table");
  const doctor = async () =>
    (await t.json<{ checks: { name: string; status: string; detail: string }[] }>("/api/doctor")).checks.find(
      ({ name }) => name === "price table",
    );
  await fetchIfDue();
  expect(site.seen).toEqual([]);
  expect(await doctor()).toMatchObject({ status: "warn", detail: expect.stringContaining("the consent to requests") });
  await get(site.url);
  const in7 = new Date(NOW.getTime() + 7 * DAY).toISOString();
  expect(await online()).toMatchObject({ update: "weekly", next: in7 });
  expect(await doctor()).toMatchObject({ status: "ok", detail: expect.stringContaining("next on 2026-12-05") });
  for (let day = 1; day < 7; day++) {
    vi.setSystemTime(NOW.getTime() + day * DAY);
    await fetchIfDue();
  }
  expect(site.seen).toHaveLength(1);
  // A server that answers badly is not asked again for a week; the table stays.
  site.answer = (_, response) => void response.writeHead(503).end();
  vi.setSystemTime(NOW.getTime() + 7 * DAY);
  await Promise.all([fetchIfDue(), fetchIfDue()]);
  await fetchIfDue();
  expect(site.seen).toHaveLength(2);
  expect(await doctor()).toMatchObject({ status: "warn", detail: expect.stringContaining("answered 503") });
  expect(await online()).toMatchObject({
    ...{ fetchedAt: NOW.toISOString(), failure: { at: in7 } },
    next: new Date(NOW.getTime() + 14 * DAY).toISOString(),
  });
  // One that is not reached: the next day.
  site.answer = (_, response) => void response.destroy();
  vi.setSystemTime(NOW.getTime() + 14 * DAY);
  await fetchIfDue();
  expect((await online()).next).toBe(new Date(NOW.getTime() + 15 * DAY).toISOString());
  site.answer = tagged('"two"', providers(8));
  vi.setSystemTime(NOW.getTime() + 15 * DAY);
  await fetchIfDue();
  expect(await t.json("/api/prices")).toMatchObject({ pricedAt: "2026-12-13", online: { failure: null } });
  const asked = site.seen.length;
  // A clock that was set back years does not end the updates; its table is not taken, which is older by that clock.
  vi.setSystemTime(new Date("2026-12-01T00:00:00Z"));
  site.answer = tagged('"three"', providers(9));
  await fetchIfDue();
  await fetchIfDue();
  expect(site.seen).toHaveLength(asked + 1);
  expect((await online()).failure?.reason).toContain("older than the one in force");
  // never: a setting that holds at once.
  await t.send("PATCH", "/api/settings", { "priceTable.update": "never" });
  vi.setSystemTime(NOW.getTime() + 400 * DAY);
  await fetchIfDue();
  expect(site.seen).toHaveLength(asked + 1);
  expect((await online()).next).toBeNull();
});

it("a service that starts fetches what is due, and a command does not", async () => {
  const site = await serveTable();
  const home = await makeTempDir();
  const { t, get } = await boot(site, "weekly", home);
  await get(site.url);
  await t.kernel.storage.files.setItem(
    "insights:price-fetch.json",
    JSON.stringify({ consent: { address: site.url, at: "2026-01-01T00:00:00Z" } }),
  );
  await t.close();
  const flags = { priceTable: { update: "weekly" as const, address: site.url } };
  await serveTest({ home, flags, plugins: plugins() });
  await expect.poll(() => site.seen.length).toBe(2);
});

it("the command asks for a consent by name where it cannot ask, fetches with --yes, and withdraws", async () => {
  const site = await serveTable();
  const home = await makeTempDir();
  await writeLog(home);
  const config = { priceTable: { address: site.url } };
  await writeFile(join(home, "sessarc.config.mjs"), `export default ${JSON.stringify(config)};\n`);
  const said = (...args: string[]) => runCommand(args, home);
  await said("import", "--all");
  const usage = await said("usage");
  expect(usage.stderr).toContain(`no price for ${MODEL} (\`sessarc prices update\`)`);
  expect((await said("prices")).stderr).toContain(`no price for ${MODEL}: \`sessarc prices update\``);
  const asked = await said("prices", "update");
  expect(asked.code).toBe(1);
  expect(asked.stderr).toContain(`No price for ${MODEL}.`);
  expect(asked.stderr).toContain(site.url);
  expect(asked.stderr).toContain("Nothing was fetched. --yes agrees and fetches it.");
  expect((await said("prices", "update", "--json")).code).toBe(1);
  await said("doctor");
  expect(site.seen).toEqual([]);

  const done = await said("prices", "update", "--yes");
  expect(done).toMatchObject({ code: 0, stderr: "" });
  expect(done.stdout).toMatch(/prices of \d{4}-\d\d-\d\d, 1 model, fetched on \d{4}-\d\d-\d\d\n/);
  // Asked once.
  expect((await said("prices", "update")).stderr).toContain("The table is unchanged since it was fetched.");
  expect((await said("usage")).stderr).not.toContain("no price");
  expect(site.seen.map(({ tag }) => tag)).toEqual([undefined, '"one"']);

  expect((await said("prices", "update", "--withdraw")).stderr).toContain("Nothing is fetched any more.");
  expect((await said("prices", "update")).code).toBe(1);
  expect((await said("prices", "update", "--reset", "--yes")).code).toBe(2);
  expect((await said("prices", "--yes")).code).toBe(2);
  expect(site.seen).toHaveLength(2);
});
