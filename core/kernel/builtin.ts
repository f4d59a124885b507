/** The kernel's own routes, added through the same door as everybody's. */

import type { Setting } from "../config/keys.ts";
import type { Plugin } from "../contract/plugin.ts";
import type { DoctorReport } from "../contract/reports.ts";
import { defineRoute, type RoutesOf } from "../contract/route.ts";
import { serviceUrl } from "../http/address.ts";
import { toOpenApi } from "../http/openapi.ts";
import { checkKernel, checkMachine } from "./doctor.ts";
import { loginRoutes } from "./login.ts";
import type { WritableRegistry } from "./registry.ts";
import { settingsRoutes } from "./settings.ts";
import { collectStatus } from "./status.ts";

const routesOver = (registry: WritableRegistry, settings: () => readonly Setting[], began: number) =>
  [
    defineRoute({
      method: "GET",
      path: "/openapi.json",
      summary: "Every route, described by the schemas that validate it",
      handler: ({ kernel }) => toOpenApi(registry.routes, serviceUrl(kernel)),
    }),
    defineRoute({
      method: "GET",
      path: "/plugins",
      summary: "Plugins with their routes, hooks, services and load time, and those that were left out",
      handler: () => ({ plugins: registry.describe(), problems: registry.problems }),
    }),
    ...settingsRoutes(settings),
    ...loginRoutes,
    defineRoute({
      method: "GET",
      path: "/status",
      summary: "Version, address, storage figures and the sections of plugins",
      handler: ({ kernel }) => collectStatus(kernel, performance.now() - began),
    }),
    defineRoute({
      method: "GET",
      path: "/doctor",
      summary: "Checks of the runtime, the archive and the assistants' logs; nothing is repaired",
      handler: async ({ kernel, signal }): Promise<{ checks: DoctorReport["checks"] }> => {
        const report: DoctorReport = { checks: await checkMachine(kernel.storage.dataDir, false), fix: false, signal };
        await checkKernel(kernel, report, true);
        return { checks: report.checks };
      },
    }),
  ] as const;

/** A plugin as any other, but for the registry it shows: that is the kernel's own. Up since it was made, whatever the clock says. */
export const builtin = (registry: WritableRegistry, settings: () => readonly Setting[]): Plugin => ({
  name: "kernel",
  routes: routesOver(registry, settings, performance.now()),
});

/** The kernel's own routes, for a client typed from them; those of plugins are in `ApiRoutes`. */
export type KernelRoutes = RoutesOf<ReturnType<typeof routesOver>>;
