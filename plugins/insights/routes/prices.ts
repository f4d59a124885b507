/** GET, POST and DELETE /prices: what models cost, and prices of the user's own. */

import { defineRoute, type Kernel, SessarcError } from "sessarc";
import { type Settings, writeSettings } from "sessarc/serve";
import * as v from "valibot";
import "../errors.ts";
import { modelsSeen } from "../figures/questions.ts";
import type { OnlineState } from "../prices/online.ts";
import { type ModelPrice, type Rates, SHIPPED } from "../prices/pricing.ts";
import { replaceTable } from "../prices/replace.ts";
import { MOST_DOLLARS, toTable } from "../prices/table.ts";

export interface PriceList {
  pricedAt: string;
  source: string;
  /** How many models the table in force has. */
  tableModels: number;
  /** The table that comes with sessarc; `inForce` is false when the user loaded another one. */
  shipped: { date: string; source: string; inForce: boolean };
  /** Models seen in the archive, and those with a price of the user's own. */
  models: ModelPrice[];
  unpriced: string[];
  /** The user's prices in force, those of the configuration file among them. */
  overrides: Readonly<Record<string, Rates>>;
  /** Those set in the dashboard: they can be taken back here. */
  own: Readonly<Record<string, Rates>>;
  /** Fetching of the published table. */
  online: OnlineState;
}

/** Dollars per million tokens. */
const rate = v.pipe(
  v.number("is no number of dollars"),
  v.finite("is no number of dollars"),
  v.minValue(0, "is below 0"),
  v.maxValue(MOST_DOLLARS, "is above 1,000,000 dollars"),
);
const model = v.pipe(v.string(), v.trim(), v.nonEmpty("is empty"), v.maxLength(200, "is too long for a model"));

const list = defineRoute({
  method: "GET",
  path: "/prices",
  meta: { team: true },
  summary: "Prices of the models seen, in dollars per million tokens",
  handler: ({ kernel }): Promise<PriceList> => prices(kernel),
});

const set = defineRoute({
  method: "POST",
  path: "/prices",
  summary: "Set a price of your own for a model, in dollars per million tokens; every figure heeds it at once",
  body: v.object({
    model,
    input: rate,
    output: rate,
    /** As dear as input when left out. */
    cacheRead: v.optional(rate),
    cacheWrite5m: v.optional(rate),
    /** As dear as those of five minutes when left out. */
    cacheWrite1h: v.optional(rate),
  }),
  handler: ({ kernel, body: { model, ...rates } }): Promise<PriceList> =>
    change(kernel, (own) => ({ ...own, [model]: rates })),
});

const remove = defineRoute({
  method: "DELETE",
  path: "/prices",
  summary: "Take back a price that was set in the dashboard; what the configuration or the table says holds again",
  query: v.object({ model }),
  handler: ({ kernel, query }): Promise<PriceList> =>
    change(kernel, (own) => {
      if (!Object.hasOwn(own, query.model)) throw new SessarcError("PRICE_NOT_SET", { model: query.model });
      return Object.fromEntries(Object.entries(own).filter(([name]) => name !== query.model));
    }),
});

/** Bytes of a table; that of the package has half a million. */
const TABLE_BYTES = 4 * 2 ** 20;

const load = defineRoute({
  method: "PUT",
  path: "/prices/table",
  summary: "Replace the price table; every figure uses the new one at once",
  limits: { bytes: TABLE_BYTES },
  body: v.object({
    /** Day of its prices, `2026-11-24`. */
    date: v.string(),
    /** Where it comes from, such as the name of a file. */
    source: v.string(),
    /** Providers in the format of genai-prices. */
    providers: v.array(v.unknown()),
  }),
  handler: async ({ kernel, body }): Promise<PriceList> => {
    await replaceTable(kernel, await toTable(body));
    return prices(kernel);
  },
});

const reset = defineRoute({
  method: "DELETE",
  path: "/prices/table",
  summary: "Go back to the price table that comes with sessarc",
  handler: async ({ kernel }): Promise<PriceList> => {
    await replaceTable(kernel, undefined);
    return prices(kernel);
  },
});

const fetchPublished = defineRoute({
  method: "POST",
  path: "/prices/table/fetch",
  summary: "Fetch the published price table from the configured address, which the user must have agreed to",
  body: v.object({
    /** The address that the user agrees to; it is stored. Not needed when it was agreed to before. */
    consent: v.optional(v.string()),
  }),
  handler: async ({ kernel, body: { consent } }): Promise<PriceList> => {
    const online = kernel.inject("price-table");
    if (consent !== undefined) await online.agree(consent);
    await online.fetch();
    return prices(kernel);
  },
});

const withdraw = defineRoute({
  method: "DELETE",
  path: "/prices/table/consent",
  summary: "Withdraw the consent to fetch the price table: nothing is requested from then on",
  handler: async ({ kernel }): Promise<PriceList> => {
    await kernel.inject("price-table").withdraw();
    return prices(kernel);
  },
});

export const priceRoutes = [list, set, remove, load, reset, fetchPublished, withdraw] as const;

async function change(kernel: Kernel, to: (own: Settings["prices"]) => Settings["prices"]): Promise<PriceList> {
  const { storage } = kernel;
  if (storage.readOnly) throw new SessarcError("STORAGE_READ_ONLY", { path: storage.dataDir });
  const { pricing, answers } = kernel.inject("insights");
  let own: Settings["prices"] = {};
  await writeSettings(storage.dataDir, ({ prices }) => {
    own = to(prices);
    return { prices: own };
  });
  pricing.setOwn(own);
  answers.clear();
  await kernel.notify("prices:changed");
  return prices(kernel);
}

async function prices(kernel: Kernel): Promise<PriceList> {
  const { pricing } = kernel.inject("insights");
  const seen = new Set(await modelsSeen(kernel.storage.db));
  const named = new Set([...seen, ...Object.keys(pricing.own)]);
  return {
    pricedAt: pricing.pricedAt,
    source: pricing.source,
    tableModels: pricing.table.models,
    shipped: { date: SHIPPED.date, source: SHIPPED.source, inForce: pricing.table.id === SHIPPED.id },
    models: [...named].sort().flatMap((model) => pricing.price(model) ?? []),
    unpriced: [...seen].filter((model) => !pricing.price(model)).sort(),
    overrides: pricing.overrides,
    own: pricing.own,
    online: await kernel.inject("price-table").state(),
  };
}
