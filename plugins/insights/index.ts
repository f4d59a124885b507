/** Usage, cost and analytics over the archive. */

import { definePlugin, type RoutesOf } from "sessarc";
import { type MaybePromise, readSettings } from "#internal";
import "./errors.ts";
import { readPrices, writePrices } from "./prices/price-cache.ts";
import { createPricing, type Pricing } from "./prices/pricing.ts";
import { activityRoutes } from "./routes/activity.ts";
import { analyticsRoutes } from "./routes/analytics.ts";
import { callRoutes } from "./routes/calls.ts";
import { insightsRoutes } from "./routes/insights.ts";
import { ledgerRoutes } from "./routes/ledger.ts";
import { priceRoutes } from "./routes/prices.ts";
import { sessionRoutes } from "./routes/session.ts";
import { usageRoutes } from "./routes/usage.ts";
import { createInsights, type Insights } from "./service.ts";

export type { ModelUsage } from "./figures/models.ts";
export type { UsageReport, UsageRow, UsageSums } from "./figures/report.ts";
export type { Trait } from "./figures/traits.ts";
export type { Cost, ModelPrice, Pricing, Rates } from "./prices/pricing.ts";
export type { Activity, ProjectActivity } from "./routes/activity.ts";
export type { ProjectAnalytics, ProjectDay, ProjectTotals } from "./routes/analytics.ts";
export type { CallEntry, Calls } from "./routes/calls.ts";
export type { DayByTool, InsightsAnswer, InsightsReport, Sums } from "./routes/insights.ts";
export type { Ledger } from "./routes/ledger.ts";
export type { PriceList } from "./routes/prices.ts";
export type { PromptCosts } from "./routes/prompts.ts";
export type { SessionContext, SessionFigures } from "./routes/session.ts";
export type { Insights } from "./service.ts";

/** A service has prices and figures ready before somebody looks; a command is done before that. */
const WARM_AFTER_MS = 500;

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

export default definePlugin({
  name: "insights",
  dependsOn: ["archive"],
  routes,
  async setup(kernel) {
    const { files } = kernel.storage;
    const pricing = createPricing(kernel.config.prices, await readPrices(files));
    pricing.setOwn((await readSettings(kernel.config.dataDir)).prices);
    kernel.provide("pricing", pricing);
    const insights = createInsights(kernel, pricing);
    kernel.provide("insights", insights);
    let warming: Promise<void> | undefined;
    const timer = setTimeout(() => {
      if (!kernel.address) return;
      pricing.warm();
      // A failure is told to whoever asks next.
      warming = insights.cube
        .figures()
        .then(() => insights.cube.keep())
        .then(() => insights.cube.warm())
        .catch(() => {});
    }, WARM_AFTER_MS);
    timer.unref();
    kernel.onClose(async () => {
      clearTimeout(timer);
      // Without room on the disk the next start takes the longer way.
      if (warming)
        await insights.cube.keep().catch((error) => kernel.notify("listener:failed", error, { hook: "close" }));
      const learned = pricing.learned();
      if (!learned || kernel.storage.readOnly) return;
      await writePrices(files, learned).catch((error) => kernel.notify("listener:failed", error, { hook: "close" }));
    });
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    pricing: Pricing;
    insights: Insights;
  }
  /** What plugins put beside the report of GET /insights, by key. */
  interface InsightsSections {}
  interface KernelHooks {
    /** GET /insights: plugins set their section. `from`: ms at which the range begins, undefined for all time. */
    "insights:collect": (
      sections: Partial<InsightsSections>,
      range: { from: number | undefined },
    ) => MaybePromise<void>;
  }
}
