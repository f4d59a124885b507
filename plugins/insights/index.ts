/** Usage, cost and analytics over the archive. */

import { type DoctorCheck, definePlugin, type MaybePromise, type RoutesOf } from "sessarc";
import { readSettings } from "sessarc/serve";
import type { Command } from "sessarc/terminal";
import "./errors.ts";
import { toReadings } from "./figures/limits.ts";
import { migrations } from "./figures/schema.ts";
import type { Reading } from "./figures/windows.ts";
import { config, type PriceUpdate } from "./prices/config.ts";
import { createOnline, type Online, type OnlineState } from "./prices/online.ts";
import { readPrices, writePrices } from "./prices/price-cache.ts";
import { createPricing, type Pricing, SHIPPED } from "./prices/pricing.ts";
import { readTable } from "./prices/table.ts";
import { activityRoutes } from "./routes/activity.ts";
import { analyticsRoutes } from "./routes/analytics.ts";
import { callRoutes } from "./routes/calls.ts";
import { insightsRoutes } from "./routes/insights.ts";
import { ledgerRoutes } from "./routes/ledger.ts";
import { priceRoutes } from "./routes/prices.ts";
import { sessionRoutes } from "./routes/session.ts";
import { usageRoutes } from "./routes/usage.ts";
import { createInsights, type Insights } from "./service.ts";

export type { BlockReport, BlockRow, Burn, Reported } from "./figures/blocks.ts";
export type { SessionContext } from "./figures/context.ts";
export type { ModelUsage } from "./figures/models.ts";
export type { PromptCosts } from "./figures/prompts.ts";
export type { UsageReport, UsageRow, UsageSums } from "./figures/report.ts";
export type { Spending } from "./figures/spending.ts";
export type { Trait } from "./figures/traits.ts";
export type { Reading } from "./figures/windows.ts";
export type { OnlineState } from "./prices/online.ts";
export type { Cost, ModelPrice, Pricing, Rates } from "./prices/pricing.ts";
export type { Activity, ProjectActivity } from "./routes/activity.ts";
export type { ProjectAnalytics, ProjectDay, ProjectFile, ProjectTotals } from "./routes/analytics.ts";
export type { CallEntry, Calls } from "./routes/calls.ts";
export type { DayByTool, InsightsAnswer, InsightsReport, Sums } from "./routes/insights.ts";
export type { Ledger } from "./routes/ledger.ts";
export type { PriceList } from "./routes/prices.ts";
export type { SessionFigures } from "./routes/session.ts";
export type { Insights } from "./service.ts";

/** A service has the price table ready before a question needs it; a command is done before that. */
const WARM_AFTER_MS = 500;
const DAY_MS = 86_400_000;

export const routes = [
  ...usageRoutes,
  ...priceRoutes,
  ...analyticsRoutes,
  ...activityRoutes,
  ...insightsRoutes,
  ...sessionRoutes,
  ...ledgerRoutes,
  ...callRoutes,
] as const;

const command: Command = {
  name: "prices",
  summary: "The price table in force and the prices of the models seen",
  usage: "\nupdate [--yes]\nupdate <file> [--date d]\nupdate --reset\nupdate --withdraw",
  options: {
    date: { type: "string" },
    reset: { type: "boolean" },
    yes: { type: "boolean", short: "y" },
    withdraw: { type: "boolean" },
  },
  help: {
    date: "Day of the prices in the file: 2026-11-24 (default: the day the file was changed last)",
    reset: "Go back to the price table that comes with sessarc",
    yes: "Agree to fetch the published table from the configured address, without a question",
    withdraw: "Withdraw that consent: nothing is fetched any more",
  },
  operands: ["update"],
  load: () => import("./command.ts"),
};

export default definePlugin({
  name: "insights",
  dependsOn: ["archive"],
  config,
  routes,
  commands: [command],
  migrations,
  async setup(kernel) {
    const { files } = kernel.storage;
    // A damaged file must not stop the service: the table in the package holds until another one is loaded.
    const table = await readTable(files).catch(async (error: unknown) => {
      await kernel.notify("listener:failed", error, { hook: "insights" });
      return undefined;
    });
    const known = await readPrices(files, (table ?? SHIPPED).id);
    const pricing = createPricing(kernel.config.prices, table ? undefined : known);
    if (table) pricing.setTable(table, known);
    pricing.setOwn((await readSettings(kernel.config.dataDir)).prices);
    kernel.provide("pricing", pricing);
    const insights = createInsights(kernel, pricing);
    kernel.provide("insights", insights);
    const online = createOnline(kernel);
    kernel.provide("price-table", online);
    kernel.hooks.hook("session:replace", ({ id, summary }) => {
      const tool = id.slice(0, id.indexOf(":"));
      return insights.storeReadings(toReadings(tool, summary.limits ?? []));
    });
    const failed = (error: unknown) => void kernel.notify("listener:failed", error, { hook: "insights" });
    const fetchIfDue = () => {
      // A command has no address: only the service fetches without being asked.
      if (kernel.address) online.fetchIfDue().catch(failed);
    };
    kernel.hooks.hook("settings:changed", ({ keys }) => {
      if (keys.includes("priceTable.update")) fetchIfDue();
    });
    kernel.hooks.hook("doctor:check", async (report) => {
      const check = toCheck(await online.state());
      if (check) report.checks.push(check);
    });
    const daily = setInterval(fetchIfDue, DAY_MS).unref();
    const timer = setTimeout(() => {
      if (!kernel.address) return;
      fetchIfDue();
      pricing.warm();
      // The next question reports a failure.
      void insights.warm().catch(() => {});
    }, WARM_AFTER_MS);
    timer.unref();
    kernel.onClose(async () => {
      clearTimeout(timer);
      clearInterval(daily);
      await online.close();
      const learned = pricing.learned();
      if (!learned || kernel.storage.readOnly) return;
      await writePrices(files, learned, pricing.table.id).catch((error) =>
        kernel.notify("listener:failed", error, { hook: "close" }),
      );
    });
  },
});

/** Undefined while nothing is fetched automatically and the last request on demand did not fail. */
function toCheck({ address, update, consent, next, failure }: OnlineState): DoctorCheck | undefined {
  const name = "price table";
  if (update === "weekly" && consent === null)
    return {
      ...{
        name,
        status: "warn",
        detail: `priceTable.update is weekly, but the consent to requests to ${address} is missing`,
      },
      fix: "Agree with `sessarc prices update`, or set it to never.",
    };
  if (failure) return { name, status: "warn", detail: failure.reason, fix: "`sessarc prices update` tries again." };
  if (update !== "weekly") return undefined;
  return { name, status: "ok", detail: `fetched from ${address} once a week, next on ${next?.slice(0, 10)}` };
}

declare module "sessarc" {
  interface PluginConfig {
    priceTable: { update: PriceUpdate; address: string };
  }
  interface UserConfig {
    /**
     * `update`: whether the service fetches the published price table once a week, after you agreed to it (`weekly`, or `never`, the default);
     * `address`: from where. Default: the data.json of genai-prices on GitHub.
     */
    priceTable?: { update?: PriceUpdate | undefined; address?: string | undefined } | undefined;
  }
  interface SettingValues {
    /** Whether the service fetches the price table once a week. */
    "priceTable.update": PriceUpdate;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    pricing: Pricing;
    insights: Insights;
    "price-table": Online;
  }
  /** What plugins put beside the report of GET /insights, by key. */
  interface InsightsSections {}
  interface KernelHooks {
    /** Providers reported how much of their limits is used; the readings are stored. */
    "limits:reported": (readings: readonly Reading[]) => MaybePromise<void>;
    /** The price table or a price of the user's own was replaced: costs that were stored elsewhere are no longer right. */
    "prices:changed": () => MaybePromise<void>;
    /** GET /insights: plugins set their section. `from`: ms at which the range begins, undefined for all time. */
    "insights:collect": (
      sections: Partial<InsightsSections>,
      range: { from: number | undefined },
    ) => MaybePromise<void>;
  }
}
