/** Usage, cost and analytics over the archive. */
import { definePlugin, type RoutesOf } from "sessarc";
import { createPricing, type Pricing } from "./pricing.ts";
import { createInsights, type Insights } from "./service.ts";
import { usageRoutes } from "./usage.ts";

export type { Cost, ModelPrice, Pricing, Rates } from "./pricing.ts";
export type { Insights } from "./service.ts";
export type { PriceList, UsageReport, UsageRow, UsageSums } from "./usage.ts";

/** A service has the price table ready before somebody looks; a command is done before that. */
const WARM_AFTER_MS = 1_000;

export const routes = [...usageRoutes] as const;

export default definePlugin({
  name: "insights",
  dependsOn: ["archive"],
  routes,
  setup(kernel) {
    const pricing = createPricing(kernel.config.prices);
    kernel.provide("pricing", pricing);
    kernel.provide("insights", createInsights(kernel, pricing));
    const timer = setTimeout(pricing.warm, WARM_AFTER_MS);
    timer.unref();
    kernel.onClose(() => clearTimeout(timer));
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    pricing: Pricing;
    insights: Insights;
  }
}
