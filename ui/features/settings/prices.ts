/** Prices of the user's own: what is typed, how it is kept, and the way back. */

import { useQuery, useQueryCache } from "@pinia/colada";
import { type Answer, api, type BodyOf } from "../../client.ts";
import { useDraft } from "../../state/draft.ts";
import { useRefresh } from "../../state/refresh.ts";
import { toast } from "../../state/toast.ts";
import { settingsText } from "./words/index.ts";

export const RATES = ["input", "output", "cacheWrite5m", "cacheWrite1h", "cacheRead"] as const;
export type PriceDraft = Record<(typeof RATES)[number] | "model", string>;
type Price = NonNullable<BodyOf<"POST /prices">>;
type Table = NonNullable<BodyOf<"PUT /prices/table">>;
type Model = Answer<"GET /prices">["models"][number];

export function usePrices() {
  const cache = useQueryCache();
  const refresh = useRefresh();
  const query = useQuery({ key: ["prices"], query: ({ signal }) => api("GET /prices", { signal }) });
  /** Null: nothing is being typed. */
  const draft = useDraft<{ price: PriceDraft | null }>("price", { price: null });

  const send = (price: Price) => api("POST /prices", { body: price }).then(changed);
  const drop = (model: string) => api("DELETE /prices", { query: { model } }).then(changed);
  /** Every cost on every screen is another one now. */
  async function changed(list: Answer<"GET /prices">): Promise<void> {
    cache.setQueryData(["prices"], list);
    await refresh({ predicate: (entry) => entry.key[0] !== "prices" });
  }
  const before = (model: string) => query.data.value?.own[model];
  function told(text: string, model: string, rates: Model["rates"] | undefined): void {
    const run = () => (rates ? send({ model, ...rates }) : drop(model));
    toast(text, { action: { label: settingsText("undo"), run } });
  }
  const dropTable = () => api("DELETE /prices/table").then(changed);
  return {
    query,
    draft,
    /** A table that replaced another loaded one is taken back by loading that file again. */
    async loadTable(table: Table): Promise<void> {
      const wasShipped = query.data.value?.shipped.inForce;
      await changed(await api("PUT /prices/table", { body: table }));
      const text = settingsText("tableLoaded", { file: table.source });
      if (wasShipped) toast(text, { action: { label: settingsText("undo"), run: dropTable } });
      else toast(text);
    },
    dropTable,
    /** `consent`: the address that the user agrees to. */
    async fetchTable(consent?: string): Promise<void> {
      const list = await api("POST /prices/table/fetch", { body: consent === undefined ? {} : { consent } });
      await changed(list);
      const { fetchedAt, checkedAt } = list.online;
      toast(fetchedAt === checkedAt ? settingsText("tableNewest", { date: list.pricedAt }) : settingsText("tableSame"));
    },
    async withdraw(): Promise<void> {
      cache.setQueryData(["prices"], await api("DELETE /prices/table/consent"));
      toast(settingsText("tableWithdrawn"));
    },
    async setWeekly(weekly: boolean): Promise<void> {
      const body = { "priceTable.update": weekly ? "weekly" : "never" } as const;
      cache.setQueryData(["settings"], await api("PATCH /settings", { body }));
      await query.refetch();
    },
    edit(model: string, rates?: Model["rates"]) {
      const texts = Object.fromEntries(RATES.map((name) => [name, rates ? String(rates[name]) : ""]));
      draft.value.price = { model, ...texts } as PriceDraft;
    },
    cancel: () => draft.clear(),
    async save(price: Price): Promise<void> {
      const { model } = price;
      const old = before(model);
      await send(price);
      draft.clear();
      told(settingsText("priceSaved", { model }), model, old);
    },
    async remove(model: string): Promise<void> {
      const old = before(model);
      await drop(model);
      told(settingsText("priceGone", { model }), model, old);
    },
  };
}

/** The body of PUT /prices/table from a file: the list of providers that genai-prices publishes as data.json. Undefined for any other file. */
export async function readTable(file: File): Promise<Table | undefined> {
  const date = new Date(file.lastModified).toISOString().slice(0, 10);
  try {
    const providers: unknown = JSON.parse(await file.text());
    return Array.isArray(providers) ? { date, source: file.name, providers } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
