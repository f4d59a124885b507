/** Serves the dashboard, and two answers it needs to open a long session at once. Registered last: it owns `/**`. */
import { definePlugin, type RoutesOf } from "sessarc";
import "./errors.ts";
import { outlineRoutes } from "./outline.ts";
import { createPage } from "./page.ts";

export type { Outline } from "./outline.ts";

export const routes = outlineRoutes;

/** `dir`: folder of the built dashboard, for tests and for one of your own. */
export default definePlugin((options: { dir?: string } | undefined) => ({
  name: "dashboard",
  dependsOn: ["archive"],
  routes: [...outlineRoutes, createPage(options?.dir)],
}));

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
