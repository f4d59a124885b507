/** Rescue: what an assistant hid, deleted or cannot open is kept, put back and resumed. */
import { definePlugin, type RoutesOf } from "sessarc";
import { commands } from "./commands/index.ts";
import { config, type LogsSetting } from "./config.ts";
import type { RescueContract } from "./contract.ts";
import "./errors.ts";
import { checkBudget } from "./keep/check.ts";
import { createKeeper } from "./keep/keeper.ts";
import { createLogStore } from "./keep/store.ts";
import { createRescue, type Rescue } from "./rescue.ts";
import { resumeRoutes } from "./resume/routes.ts";
import { rescueRoutes } from "./routes.ts";
import { migrations } from "./schema.ts";
import { createStates } from "./state/states.ts";

export type {
  Hidden,
  IndexEntry,
  RescueContract,
  RescueDatabase,
  RescuedSession,
  SessionCopy,
} from "./contract.ts";
export type { Brief } from "./handoff/brief.ts";
export type { RescueOverview, RetentionRule } from "./overview.ts";
export type { Reclaimable, Reclaimed } from "./reclaim/reclaim.ts";
export type { RescuePlan, RescueStep } from "./restore/plan.ts";
export type { Rescued, Undone } from "./restore/rescue.ts";
export type { GoneFolder } from "./state/folders.ts";
export type { SessionState, StateOf } from "./state/states.ts";

/** A service stores what is behind when its start is over. */
const AFTER_START_MS = 20_000;

export const routes = [...rescueRoutes, ...resumeRoutes] as const;

export default definePlugin({
  name: "rescue",
  dependsOn: ["archive", "security"],
  config,
  routes,
  migrations,
  commands,
  setup(kernel) {
    const states = createStates(kernel);
    const keeper = createKeeper(kernel, states);
    kernel.provide("rescue", createRescue(kernel, keeper, states));
    const failed = (error: unknown) => {
      if (!kernel.closing.aborted) void kernel.notify("listener:failed", error, { hook: "rescue" });
    };
    kernel.hooks.hook("session:replaced", ({ id }) => keeper.soon(id));
    kernel.hooks.hook("import:done", async () => {
      const stored = keeper.run();
      // A command ends after its import; a service answers at once.
      if (kernel.address) stored.catch(failed);
      else await stored;
    });
    kernel.hooks.hook(
      "session:erase",
      ({ ids, write }) => void write.push(...createLogStore(kernel.storage.db).erase(ids)),
    );
    kernel.hooks.hook("session:removed", () => keeper.collect());
    kernel.hooks.hook("archive:rewrite", (rewrite) => keeper.rewrite(rewrite));
    kernel.hooks.hook("settings:changed", async ({ keys }) => {
      if (keys.includes("rescue.logs")) await keeper.run();
    });
    kernel.hooks.hook("doctor:check", async ({ checks, fix, signal }) => {
      checks.push(checkBudget(await keeper.room()), await keeper.check(fix, signal));
    });
    kernel.hooks.hook("status:collect", async (status) => {
      const { isOver, leftOut, leftOutDying } = await keeper.room();
      status.rescue = { isOver, leftOut, leftOutDying };
    });
    kernel.hooks.hook("archive:vacuum", async () => void (await keeper.sweep(false)));
    const timer = setTimeout(() => {
      if (kernel.address) keeper.run().catch(failed);
    }, AFTER_START_MS).unref();
    kernel.onClose(async () => {
      clearTimeout(timer);
      await keeper.close();
    });
  },
});

declare module "sessarc" {
  interface AdapterCapabilities {
    rescue: RescueContract;
  }
  interface PluginConfig {
    rescue: { logs: LogsSetting };
  }
  interface UserConfig {
    /**
     * `logs`: whether the raw log of each session is stored beside its transcript. `keep`, the default: within a tenth of the free space and
     * 20 GB; a number: within so many GB; `none`: not.
     */
    rescue?: { logs?: LogsSetting | undefined } | undefined;
  }
  interface SettingValues {
    /** Whether raw logs are stored, and within how many GB. */
    "rescue.logs": LogsSetting;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    rescue: Rescue;
  }
}
