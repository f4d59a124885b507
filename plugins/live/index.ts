/** Live tailing: what an assistant writes, as it writes it. */
import { definePlugin, type RoutesOf } from "sessarc";
import type { FeedOptions } from "./feed.ts";
import { createLive, type Live } from "./live.ts";
import { checkPolled } from "./polled.ts";
import { liveRoutes } from "./routes.ts";
import { createSync, type Sync, type SyncStatus, type SyncTimes } from "./sync.ts";
import type { TurnTimes } from "./turns.ts";

export type { StopReason } from "./audience.ts";
export type { ChangeFrame } from "./changes.ts";
export type { FeedOptions, FeedStatus } from "./feed.ts";
export type { Live } from "./live.ts";
export type { RunningCall } from "./running-call.ts";
export type { Sync, SyncStatus, SyncTimes } from "./sync.ts";
export type { Turn, TurnFrame, TurnTimes } from "./turns.ts";

export const routes = liveRoutes();

export interface LiveOptions extends FeedOptions {
  /** Other times of keeping the archive up to date than usual. */
  sync?: Partial<SyncTimes>;
  /** When a turn counts as over. */
  turns?: TurnTimes | undefined;
}

export default definePlugin((options: LiveOptions | undefined) => ({
  name: "live",
  dependsOn: ["archive"],
  routes: liveRoutes(options?.turns),
  setup(kernel) {
    const live = createLive(kernel, options);
    kernel.provide("live", live);
    const sync = createSync(kernel, options?.sync);
    kernel.provide("sync", sync);
    kernel.hooks.hook("session:replaced", () => sync.imported());
    kernel.hooks.hook("import:done", () => sync.imported());
    kernel.hooks.hook("settings:changed", async ({ keys }) => {
      if (keys.includes("sync") || keys.includes("autoImport")) await sync.configured();
    });
    kernel.hooks.hook("sources:changed", () => sync.placesChanged());
    kernel.hooks.hook("status:collect", (report) => {
      const past = typeof report.sync === "object" && !Array.isArray(report.sync) ? report.sync : {};
      report.sync = { ...past, ...JSON.parse(JSON.stringify(sync.status())) };
    });
    kernel.hooks.hook("doctor:check", (report) => {
      report.checks.push(...checkPolled(sync.status().roots));
    });
    kernel.hooks.hook("session:replaced", ({ id }) => {
      // Not awaited: an import does not wait for a log that is being opened.
      live
        .imported(id)
        .catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "session:replaced" }));
    });
    kernel.hooks.hook("session:removed", ({ id }) => live.removed(id));
    // At once, so that followers hear why before their connection goes.
    kernel.closing.addEventListener("abort", () => void live.close(), { once: true });
    kernel.onClose(async () => {
      await sync.close();
      await live.close();
    });
  },
}));

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    live: Live;
    sync: Sync;
  }
  interface KernelHooks {
    /** The archive's keeping itself up to date changed its state, or has just imported. */
    "sync:changed": (status: SyncStatus) => void | Promise<void>;
  }
}
