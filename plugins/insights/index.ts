/** Usage, cost and analytics over the archive. */
import { definePlugin, type RoutesOf } from "sessarc";
import { activityRoutes } from "./activity.ts";
import { analyticsRoutes } from "./analytics.ts";
import { zoneOf } from "./buckets.ts";
import { insightsRoutes } from "./insights.ts";
import { ledgerRoutes } from "./ledger.ts";
import { readPrices, writePrices } from "./price-cache.ts";
import { createPricing, type Pricing } from "./pricing.ts";
import { createInsights, type Insights } from "./service.ts";
import { sessionRoutes } from "./session.ts";
import { usageRoutes } from "./usage.ts";

export type { Activity, ProjectActivity } from "./activity.ts";
export type { ProjectAnalytics, ProjectDay, ProjectTotals } from "./analytics.ts";
export type { DayByTool, InsightsReport, Sums } from "./insights.ts";
export type { Ledger } from "./ledger.ts";
export type { Cost, ModelPrice, Pricing, Rates } from "./pricing.ts";
export type { Insights } from "./service.ts";
export type { SessionContext, SessionFigures } from "./session.ts";
export type { Trait } from "./traits.ts";
export type { PriceList, UsageReport, UsageRow, UsageSums } from "./usage.ts";

/** A service has prices and figures ready before somebody looks; a command is done before that. */
const WARM_AFTER_MS = 500;

export const routes = [
  ...usageRoutes,
  ...analyticsRoutes,
  ...activityRoutes,
  ...insightsRoutes,
  ...sessionRoutes,
  ...ledgerRoutes,
] as const;

export default definePlugin({
  name: "insights",
  dependsOn: ["archive"],
  routes,
  async setup(kernel) {
    const { files } = kernel.storage;
    const pricing = createPricing(kernel.config.prices, await readPrices(files));
    kernel.provide("pricing", pricing);
    const insights = createInsights(kernel, pricing);
    kernel.provide("insights", insights);
    const timer = setTimeout(() => {
      if (!kernel.address) return;
      pricing.warm();
      zoneOf().dayAt(Date.now());
      // A failure is told to whoever asks next.
      insights.cube.figures().catch(() => {});
    }, WARM_AFTER_MS);
    timer.unref();
    kernel.onClose(async () => {
      clearTimeout(timer);
      const learned = pricing.learned();
      if (!learned) return;
      // Without room on the disk the next start takes the longer way.
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
}
