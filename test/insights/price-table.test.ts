/** `sessarc prices`: a price table loaded from a file takes the place of the one in the package, for every figure and over a restart. */
import { readFileSync } from "node:fs";
import { mkdir, readFile, utimes, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type * as Table from "@pydantic/genai-prices";
import { createTestKernel } from "sessarc/test";
import { expect, it } from "vitest";
import archive from "../../plugins/archive/index.ts";
import claude from "../../plugins/claude-code/index.ts";
import type { PriceList } from "../../plugins/insights/index.ts";
import insights from "../../plugins/insights/index.ts";
import { toTable } from "../../plugins/insights/prices/table.ts";
import { makeTempDir } from "../_setup.ts";
import { runCommand } from "../command.ts";
import { openCatalogue } from "./rows.ts";

const M = 1_000_000;
const MODEL = "claude-haiku-4-5";

/** A table of one model. */
const makeTable = (prices: unknown, match: unknown = { starts_with: MODEL }) => [
  { id: "anthropic", model_match: { contains: "claude" }, models: [{ id: MODEL, match, prices }] },
];
const put = (providers: unknown, date = "2026-11-20") => ({ date, source: "new.json", providers });

/** One reply with a million tokens of output. */
async function writeLog(home: string): Promise<void> {
  const file = join(home, ".claude/projects/-w-app/0b6f1c52-3a41-4d6e-9a51-7c2f4f1d0a01.jsonl");
  await mkdir(dirname(file), { recursive: true });
  const reply = {
    type: "assistant",
    uuid: "a",
    timestamp: "2026-03-02T10:00:00Z",
    requestId: "a",
    message: {
      id: "a",
      role: "assistant",
      model: MODEL,
      content: [{ type: "text", text: "x" }],
      usage: { input_tokens: 0, output_tokens: M },
    },
  };
  await writeFile(file, `${JSON.stringify(reply)}\n`);
}

type Cost = { microdollars: number; pricedAt: string };

it("sessions, usage and answers given before use a loaded table at once, and after a restart; a reset goes back", async () => {
  const home = await makeTempDir();
  await writeLog(home);
  const t = await createTestKernel({ plugins: [archive(), insights(), claude()], home });
  await t.send("POST", "/api/import", { all: true });
  const costs = async (at: typeof t): Promise<Cost[]> => {
    const { sessions } = await at.json<{ sessions: { id: string; cost: Cost }[] }>("/api/sessions?sort=cost");
    const usage = await at.json<{ totals: { cost: Cost } }>("/api/usage");
    const report = await at.json<{ totals: { cost: Cost } }>("/api/insights");
    return [sessions[0]?.cost, usage.totals.cost, report.totals.cost].flatMap((cost) =>
      cost ? [{ microdollars: cost.microdollars, pricedAt: cost.pricedAt }] : [],
    );
  };
  const shipped = Array(3).fill({ microdollars: 5 * M, pricedAt: (await openCatalogue()).pricing.pricedAt });
  const loaded = Array(3).fill({ microdollars: 7 * M, pricedAt: "2026-11-20" });
  expect(await costs(t)).toEqual(shipped);
  expect(await t.json("/api/prices")).toMatchObject({ shipped: { inForce: true } });

  const answer = await t.send("PUT", "/api/prices/table", put(makeTable({ input_mtok: 2, output_mtok: 7 })));
  expect(answer).toMatchObject({
    status: 200,
    body: { pricedAt: "2026-11-20", source: "new.json", shipped: { inForce: false } },
  });
  expect(await costs(t)).toEqual(loaded);

  // An invalid table changes nothing.
  expect(await t.send("PUT", "/api/prices/table", put([]))).toMatchObject({
    status: 400,
    body: { code: "PRICE_TABLE_INVALID", fix: expect.stringContaining("sessarc prices update --reset") },
  });
  expect(await costs(t)).toEqual(loaded);

  await t.close();
  const again = await createTestKernel({
    plugins: [archive(), insights(), claude()],
    home,
  });
  expect(await costs(again)).toEqual(loaded);
  expect(await again.send("DELETE", "/api/prices/table")).toMatchObject({ body: { shipped: { inForce: true } } });
  expect(await costs(again)).toEqual(shipped);
});

it("a stored table that is damaged does not stop the service: the table in the package is in force", async () => {
  const home = await makeTempDir();
  const t = await createTestKernel({ plugins: [archive(), insights()], home });
  await t.send("PUT", "/api/prices/table", put(makeTable({ input_mtok: 2, output_mtok: 7 })));
  await t.close();
  const again = await createTestKernel({ plugins: [archive(), insights()], home });
  await again.kernel.storage.files.setItem(
    "insights:price-table.json",
    '{"date":"2026-11-20","source":"x","providers":3}',
  );
  await again.close();
  const third = await createTestKernel({ plugins: [archive(), insights()], home });
  expect((await third.json<PriceList>("/api/prices")).shipped.inForce).toBe(true);
  await third.send("DELETE", "/api/prices/table");
  expect(await third.kernel.storage.files.getItem("insights:price-table.json")).toBeNull();
});

/** The providers of the package, which exports only a search for them. */
function shippedProviders(): unknown[] {
  const require = createRequire(import.meta.url);
  const { findProvider } = require("@pydantic/genai-prices") as typeof Table;
  const ids = readFileSync(require.resolve("@pydantic/genai-prices"), "utf8").matchAll(/\{id:"([^"]+)",name:"/g);
  const found = [...new Set([...ids].map(([, id = ""]) => id))].flatMap((id) => {
    const provider = findProvider({ providerId: id });
    return provider?.id === id ? [provider] : [];
  });
  return JSON.parse(JSON.stringify(found)) as unknown[];
}

it("the package's own table, loaded from a file, gives every model the price that it has in the package", async () => {
  const providers = shippedProviders();
  const { pricing: shipped } = await openCatalogue();
  const table = await toTable(put(providers, shipped.table.date));
  expect(table.providers.length).toBeGreaterThan(20);
  expect(table.providers.reduce((sum, { models }) => sum + models.length, 0)).toBe(shipped.table.models);
  const { pricing: loaded } = await openCatalogue();
  loaded.setTable(table);
  const models = table.providers.flatMap(({ id, models }) => models.flatMap((one) => [one.id, `${id}/${one.id}`]));
  const names = [...models, "o3", "deepseek-chat", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-opus-4-50"];
  expect(names.filter((name) => shipped.price(name)).length).toBeGreaterThan(200);
  for (const name of names) {
    expect(loaded.price(name), name).toEqual(shipped.price(name));
    expect(loaded.windowOf(name), name).toBe(shipped.windowOf(name));
  }
});

it("a name with capital letters has its price, as the table or the log spells it", async () => {
  const { pricing: shipped } = await openCatalogue();
  const { providers: shippedOnes } = await toTable(put(shippedProviders()));
  const spelled = shippedOnes.flatMap(({ id, models }) =>
    models.flatMap(({ match, prices }) =>
      "equals" in match && /[A-Z]/.test(match.equals) && JSON.stringify(prices).includes("output_mtok")
        ? [`${id}/${match.equals}`]
        : [],
    ),
  );
  expect(spelled.length).toBeGreaterThan(20);
  for (const name of spelled)
    for (const spelling of [name, name.toLowerCase()])
      expect(shipped.price(spelling)?.rates.output, spelling).toBeTypeOf("number");
  const { pricing: loaded } = await openCatalogue();
  const rules = [
    { starts_with: "Big-Model" },
    { and: [{ contains: "Big-Model" }, { regex: "^B.g" }] },
    { ends_with: "Big-Model" },
  ];
  for (const match of rules) {
    const providers = [
      {
        id: "Acme",
        model_match: { contains: "Big" },
        models: [{ id: "Big-Model", match, prices: { input_mtok: 1, output_mtok: 2 } }],
      },
    ];
    loaded.setTable(await toTable(put(providers)));
    for (const name of ["Big-Model", "big-model", "BIG-MODEL", "acme/big-model", "Acme/Big-Model"])
      expect(loaded.price(name)?.rates.output, `${name} ${JSON.stringify(match)}`).toBe(2);
    expect(loaded.price("Big-Modelling")).toBeUndefined();
  }
});

it("says what is wrong with a table, and where", async () => {
  const rates = { input_mtok: 1, output_mtok: 2 };
  const problem = async (providers: unknown, date = "2026-11-20") => {
    try {
      await toTable(put(providers, date));
    } catch (error) {
      return String(error);
    }
    return "";
  };
  let deep: object = { equals: "x" };
  for (let n = 0; n < 5_000; n++) deep = { or: [deep] };
  expect(await problem(makeTable(rates))).toBe("");
  expect(await problem(makeTable([{ constraint: { start_date: "2026-01-01" }, prices: rates }]))).toBe("");
  expect(await problem(makeTable(rates), "2026-02-30")).toContain("date is not a day");
  expect(await problem({})).toContain("the table is not a list");
  expect(await problem([7])).toContain("[0] is not an object");
  expect(await problem(makeTable({}))).toContain("has no model with input_mtok and output_mtok");
  expect(await problem(makeTable({ ...rates, input_mtok: -1 }))).toContain(
    "[0].models[0].prices.input_mtok is not a number",
  );
  expect(await problem(makeTable({ ...rates, output_mtok: { base: 1, tiers: [{ start: "a", price: 1 }] } }))).toContain(
    "[0].models[0].prices.output_mtok.tiers[0] needs start",
  );
  expect(await problem(makeTable([{ constraint: { start_time: "8", end_time: "9" }, prices: rates }]))).toContain(
    "[0].models[0].prices[0].constraint needs",
  );
  expect(await problem(makeTable(rates, {}))).toContain("[0].models[0].match is not a rule");
  expect(await problem(makeTable(rates, deep))).toContain("rules inside one another");
  expect(await problem(makeTable(rates, { regex: "(" }))).toContain("is not a regular expression");
  for (const regex of ["^(a+)+$", "a*a*a*b", `^${"a?".repeat(60)}b`, `^${"(a|a)".repeat(30)}b`])
    expect(await problem(makeTable(rates, { regex })), regex).toContain("may take too long");
});

it("the command shows the table in force with its date, loads a file and goes back", async () => {
  const home = await makeTempDir();
  await writeLog(home);
  await runCommand(["import", "--all"], home);
  const file = join(home, "data.json");
  await writeFile(file, JSON.stringify(makeTable({ input_mtok: 2, output_mtok: 7.5, cache_read_mtok: 0.2 })));
  await utimes(file, new Date("2026-11-21T12:00:00Z"), new Date("2026-11-21T12:00:00Z"));

  const before = await runCommand(["prices"], home);
  expect(before).toMatchObject({ code: 0, stderr: "" });
  expect(before.stdout).toMatch(
    /^Price table: @pydantic\/genai-prices \S+, prices of \d{4}-\d\d-\d\d, [\d,]+ models, comes with sessarc\n/,
  );

  const after = await runCommand(["prices", "update", file], home);
  expect(after).toMatchObject({ code: 0, stderr: "" });
  const stored = await runCommand(["prices"], home);
  expect(stored.stdout).toBe(after.stdout);
  expect(stored.stdout).toMatch(/^Price table: data\.json, prices of 2026-11-21, 1 model, loaded from a file\n/);
  expect(stored.stdout).toMatch(/\nclaude-haiku-4-5 +2 +7\.5 +0\.2 +2 +2/);
  const { stdout: usage } = await runCommand(["usage", "model", "--json"], home);
  expect(JSON.parse(usage)).toMatchObject({ totals: { cost: { microdollars: 7.5 * M, pricedAt: "2026-11-21" } } });

  const old = await runCommand(["prices", "update", file, "--date", "2025-01-01"], home);
  expect(old.stderr).toContain("The table that comes with sessarc is newer");
  const { stdout: reset } = await runCommand(["prices", "update", "--reset", "--json"], home);
  expect(JSON.parse(reset)).toMatchObject({ shipped: { inForce: true } });

  await writeFile(join(home, "bad.json"), "{");
  await writeFile(join(home, "object.json"), "{}");
  await writeFile(join(home, "wrong.json"), "[1]");
  const said = async (action: string, ...files: string[]) => {
    const args = files.map((one) => (one.endsWith(".json") ? join(home, one) : one));
    const { code, stderr } = await runCommand(["prices", action, ...args], home);
    return `${code} ${stderr}`;
  };
  expect(await said("update", "bad.json")).toMatch(/^2 .*is not JSON/s);
  expect(await said("update", "object.json")).toMatch(/^2 .*is not a price table/s);
  expect(await said("update", "none.json")).toMatch(/^2 .*There is no file .*none\.json/s);
  expect(await said("update", "wrong.json")).toMatch(
    /^2 .*The price table is invalid: \[0\] is not an object.*--reset/s,
  );
  expect(await said("update")).toMatch(/^1 .*Nothing was fetched\. --yes agrees and fetches it/s);
  expect(await said("update", "data.json", "--reset")).toMatch(/^2 /);
  expect(await readFile(file, "utf8")).toContain("claude-haiku-4-5");
});
