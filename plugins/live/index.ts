/** Live tailing: what an assistant writes, as it writes it. */
import { definePlugin, type RoutesOf } from "sessarc";
import { createLive, type Live } from "./live.ts";
import { liveRoutes } from "./routes.ts";

export type { FeedStatus, StopReason } from "./feed.ts";
export type { Live } from "./live.ts";

export const routes = [...liveRoutes] as const;

export default definePlugin({
  name: "live",
  dependsOn: ["archive"],
  routes,
  setup(kernel) {
    const live = createLive(kernel);
    kernel.provide("live", live);
    kernel.hooks.hook("session:replaced", ({ id }) => {
      // Not awaited: an import does not wait for a log that is being opened.
      live
        .imported(id)
        .catch((error: unknown) => kernel.notify("listener:failed", error, { hook: "session:replaced" }));
    });
    kernel.hooks.hook("session:removed", ({ id }) => live.removed(id));
    // At once, so that followers hear why before their connection goes.
    kernel.closing.addEventListener("abort", () => void live.close(), { once: true });
    kernel.onClose(() => live.close());
  },
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    live: Live;
  }
}
