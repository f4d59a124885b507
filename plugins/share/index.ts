/** Shares: frozen, redacted copies of sessions behind a token. */

import { definePlugin, type MaybePromise, type RoutesOf } from "sessarc";
import "./errors.ts";
import { shareRoutes } from "./routes.ts";
import { migrations } from "./schema.ts";
import { createShares, type Share, type Shares } from "./shares.ts";

export type { Share, Shares } from "./shares.ts";

export const routes = [...shareRoutes] as const;

export default definePlugin({
  name: "share",
  dependsOn: ["archive", "security"],
  routes,
  migrations,
  setup(kernel) {
    const shares = createShares(kernel);
    kernel.provide("shares", shares);
    kernel.hooks.hook("kernel:ready", () => shares.start());
    kernel.hooks.hook("doctor:check", async (report) => {
      const damaged = await shares.damaged(report.signal);
      if (damaged.length === 0) return;
      const detail = `${damaged.length} frozen copies are damaged and not served: ${damaged.join(", ")}`;
      report.checks.push({ name: "shares", status: "fail", detail, fix: "Revoke these links and create new ones." });
    });
    kernel.hooks.hook("archive:vacuum", () => shares.forgetEnded());
    kernel.onClose(() => shares.stop());
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    shares: Shares;
  }
  interface KernelHooks {
    "share:created": (share: Share) => MaybePromise<void>;
    "share:viewed": (share: { id: string }) => MaybePromise<void>;
    "share:revoked": (share: { id: string }) => MaybePromise<void>;
    "share:restored": (share: { id: string }) => MaybePromise<void>;
  }
}
