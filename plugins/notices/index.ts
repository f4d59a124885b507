/** What a person should know at once: an assistant waits for them, or a provider's limit comes near. */

import { definePlugin, defineRoute, type RoutesOf } from "sessarc";
import type { Command } from "sessarc/terminal";
import * as v from "valibot";
import { config, type Switch } from "./config.ts";
import { createLimits, type LimitNotice, type Limits, migrations } from "./limits.ts";
import { createSystem } from "./system.ts";
import { createWaiting, EVENTS, type Waiting, type WaitingEntry } from "./waiting.ts";

export type { LimitNotice, Limits } from "./limits.ts";
export type { Waiting, WaitingEntry } from "./waiting.ts";

const name = v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/, "is not the name of an assistant"));

export const routes = [
  defineRoute({
    method: "GET",
    path: "/waiting",
    summary: "Sessions whose assistant waits for a permission or an answer, the longest first",
    handler: ({ kernel }): Promise<WaitingEntry[]> => kernel.inject("waiting").list(),
  }),
  defineRoute({
    method: "POST",
    path: "/waiting",
    summary: "An assistant waits, or its session ended; installed hooks call it",
    body: v.object({
      tool: name,
      /** The assistant's own id of the session. */
      session: v.pipe(v.string(), v.minLength(1), v.maxLength(400)),
      event: v.picklist(EVENTS),
    }),
    handler: async ({ kernel, body }): Promise<{ waiting: number }> => ({
      waiting: await kernel.inject("waiting").report(body.tool, body.session, body.event),
    }),
  }),
  defineRoute({
    method: "GET",
    path: "/limits",
    summary:
      "Windows of providers of which 80 % are used, or that run out before they reset, by what the providers reported",
    handler: ({ kernel }): Promise<LimitNotice[]> => kernel.inject("limits").list(),
  }),
] as const;

const command: Command = {
  name: "waiting",
  summary: "Lists the sessions whose assistant waits for you",
  usage: "",
  options: {},
  help: {},
  operands: [],
  load: () => import("./command.ts"),
};

export default definePlugin({
  name: "notices",
  dependsOn: ["archive", "insights"],
  config,
  routes,
  migrations,
  commands: [command],
  setup(kernel) {
    const show = createSystem(kernel);
    const waiting = createWaiting(kernel, show);
    const limits = createLimits(kernel, show);
    kernel.provide("waiting", waiting);
    kernel.provide("limits", limits);
    kernel.hooks.hook("session:replaced", ({ id }) => waiting.wentOn(id));
    kernel.hooks.hook("session:removed", ({ id }) => waiting.remove(id));
    kernel.hooks.hook("limits:reported", (readings) => limits.check(readings));
    kernel.hooks.hook("status:collect", async (status) => {
      const [waits, near] = [await waiting.list(), await limits.list()];
      if (waits.length > 0) status.waiting = waits.map(({ text, since }) => ({ text, since }));
      if (near.length > 0) status.limits = near.map(({ text }) => text);
    });
  },
});

declare module "sessarc" {
  interface PluginConfig {
    notices: { system: Switch; limits: Switch };
  }
  interface UserConfig {
    /** `system`: notifications of the system, `limits`: notices of providers' limits; each `on` (the default) or `off`. */
    notices?: { system?: Switch | undefined; limits?: Switch | undefined } | undefined;
  }
  interface SettingValues {
    /** Notifications of the system. */
    "notices.system": Switch;
    /** Notices of providers' limits. */
    "notices.limits": Switch;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    waiting: Waiting;
    limits: Limits;
  }
  interface KernelHooks {
    /** The system was asked to show a notification. `code`: the exit code of its program, null when it could not be run. */
    "notice:shown": (notice: { title: string; text: string; code: number | null }) => void | Promise<void>;
  }
}
