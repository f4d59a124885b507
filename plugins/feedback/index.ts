/** Feedback: kept on this machine first, sent on only where a relay is configured. */
import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import * as v from "valibot";
import { config } from "./config.ts";
import { createFeedback, type Feedback, type FeedbackAnswer, type FeedbackPreview } from "./feedback.ts";

export type { Feedback, FeedbackAnswer, FeedbackPreview } from "./feedback.ts";

export const routes = [
  defineRoute({
    method: "POST",
    path: "/feedback",
    status: 201,
    summary:
      "Keep feedback in the local log; a configured relay gets id, message, kind and email, and nothing else. `dryRun` answers those bytes and keeps nothing",
    body: v.object({
      message: v.pipe(v.string(), v.trim(), v.minLength(1, "is empty"), v.maxLength(20_000)),
      kind: v.optional(v.pipe(v.string(), v.maxLength(40))),
      email: v.optional(v.pipe(v.string(), v.email("is no e-mail address"), v.maxLength(320))),
      id: v.optional(v.pipe(v.string(), v.uuid("is no UUID"))),
      dryRun: v.optional(v.boolean()),
    }),
    handler: async ({ kernel, body: { dryRun, ...entry } }): Promise<FeedbackAnswer | FeedbackPreview> => {
      const feedback = kernel.inject("feedback");
      return dryRun ? feedback.preview(entry) : feedback.add(entry);
    },
  }),
] as const;

export default definePlugin({
  name: "feedback",
  config,
  routes,
  migrations: [
    // What a relay has not taken yet. `next_at` in ms.
    "create table feedback_outbox (id text primary key, body text not null, attempts integer not null, next_at integer not null)",
  ],
  setup(kernel) {
    const feedback = createFeedback(kernel);
    kernel.provide("feedback", feedback);
    kernel.hooks.hook("status:collect", async (status) => {
      status.feedback = await feedback.state();
    });
    kernel.hooks.hook("kernel:ready", () => feedback.start());
    kernel.hooks.hook("settings:changed", ({ keys }) => {
      if (keys.includes("feedback.relay")) feedback.start();
    });
    kernel.onClose(() => feedback.stop());
  },
});

declare module "sessarc" {
  interface PluginConfig {
    feedback: { relay: string | null };
  }
  interface UserConfig {
    /** `relay`: the address that feedback is forwarded to. Default none: it stays in the archive. */
    feedback?: { relay?: string | null | undefined } | undefined;
  }
  interface SettingValues {
    /** Where feedback is sent on to; `""` nowhere. */
    "feedback.relay": string;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    feedback: Feedback;
  }
}
