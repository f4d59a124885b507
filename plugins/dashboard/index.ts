/** Serves the dashboard, and what it needs of a session beyond the archive's answers. Registered last: it owns `/**`. */
import { definePlugin, type RoutesOf } from "sessarc";
import "./errors.ts";
import { guides } from "./guides.ts";
import { images } from "./images.ts";
import { outlineRoutes } from "./outline.ts";
import { createPage, type DashboardOptions } from "./page.ts";

export type { MessageImages } from "./images.ts";
export type { Outline } from "./outline.ts";
export type { DashboardOptions } from "./page.ts";

export const routes = [...outlineRoutes, images] as const;

export default definePlugin((options: DashboardOptions | undefined) => ({
  name: "dashboard",
  dependsOn: ["archive"],
  routes: [...routes, guides, createPage(options)],
}));

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
