/** Serves the dashboard, and two answers it needs to open a long session at once. Registered last: it owns `/**`. */
import { definePlugin, type RoutesOf } from "sessarc";
import "./errors.ts";
import { outlineRoutes } from "./outline.ts";
import { pageRoutes } from "./page.ts";

export type { Outline } from "./outline.ts";

export const routes = [...outlineRoutes, ...pageRoutes] as const;

export default definePlugin({ name: "dashboard", dependsOn: ["archive"], routes });

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof outlineRoutes> {}
}
