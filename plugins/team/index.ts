/** Team: many machines push their sessions to one server on PostgreSQL. Nothing of it is loaded before a team command is used. */
import { definePlugin, type Kernel, type RoutesOf } from "sessarc";
import "./errors.ts";
import "./server/errors.ts";
import "./client/errors.ts";
import type { Background } from "./client/background.ts";
import type { TeamClient } from "./client/client.ts";
import { clientRoutes } from "./client/routes.ts";
import { migrations } from "./client/schema.ts";
import type { PushedOf } from "./client/store.ts";
import { commands } from "./commands.ts";
import { config, type PushMode } from "./config.ts";

import type { Directory } from "./server/accounts/directory.ts";
import type { TeamServer } from "./server/front.ts";

export type { MadeToken, TeamStatus, Withdrawal } from "./client/client.ts";
export type { PushedSession, PushFrame, PushReport } from "./client/push.ts";
export type { Manifest, PortableSummary, Principal, TeamDatabase, TeamDatabaseOptions, TeamWriter } from "./types.ts";
export type { Device, Invitation, Person, ReadToken, SharedSpace, Space } from "./wire/answers.ts";

export const routes = clientRoutes;

export interface TeamOptions {
  /** ms until a request to the server is repeated the first time. Default 500. */
  retryMs?: number;
  /** ms of the longest wait before a request is repeated, whatever the server asks for. Default a minute. */
  longestWaitMs?: number;
  /** ms that one answer may take. Default: a minute, and five of them for what the server imports or removes first. */
  answerMs?: number;
  /** ms without a change before the service pushes in the background. Default: a minute. */
  settleMs?: number;
}

/** Service "team". */
export interface Team {
  /** Loads the client with the first call. */
  client(): Promise<TeamClient>;
  /** Addresses of the servers that these sessions were pushed to. */
  pushedTo(ids: readonly string[]): Promise<string[]>;
  /** Removes those of these sessions that were pushed from their servers. Throws TEAM_UNREACHABLE, TEAM_NO_ACCESS, TEAM_REFUSED. */
  withdraw(ids: readonly string[]): Promise<void>;
  /** How many of these sessions with their sub-agents, or of a project's, were pushed to which server. */
  pushedOf(wanted: PushedOf): Promise<{ address: string; sessions: number }[]>;
}

function createTeam(kernel: Kernel, options: TeamOptions): Team & { close(): Promise<void> } {
  let opened: Promise<TeamClient> | undefined;
  const client = () => (opened ??= import("./client/client.ts").then((code) => code.createClient(kernel, options)));
  /** The client, unless nothing was pushed: then it is not loaded. */
  const clientIfPushed = async () =>
    (await kernel.storage.db.get("select 1 from team_pushed limit 1")) ? client() : undefined;
  return {
    client,
    async pushedTo(ids) {
      const servers = (await (await clientIfPushed())?.serversOf(ids)) ?? [];
      return [...new Set(servers.map(({ address }) => address))];
    },
    async withdraw(ids) {
      await (await clientIfPushed())?.withdrawAll(ids);
    },
    pushedOf: async (wanted) => (await (await clientIfPushed())?.pushedOf(wanted)) ?? [],
    close: async () => void (await (await opened)?.close()),
  };
}

export default definePlugin((options: TeamOptions | undefined) => ({
  name: "team",
  dependsOn: ["archive", "security"],
  config,
  routes,
  migrations,
  commands,
  setup(kernel) {
    const team = createTeam(kernel, options ?? {});
    kernel.provide("team", team);
    let background: Background | undefined;
    const configured = async () => {
      if (kernel.config.team.push === "background") {
        const { createBackground } = await import("./client/background.ts");
        background ??= createBackground(kernel, team.client, options?.settleMs);
      } else {
        background?.close();
        background = undefined;
      }
    };
    kernel.hooks.hook("kernel:ready", configured);
    kernel.hooks.hook("settings:changed", ({ keys }) => (keys.includes("team.push") ? configured() : undefined));
    kernel.hooks.hook("session:replaced", () => background?.changed());
    kernel.onClose(async () => {
      background?.close();
      await team.close();
    });
  },
}));

declare module "sessarc" {
  interface PluginConfig {
    team: { push: PushMode };
  }
  interface UserConfig {
    /** `push`: whether the running service pushes what changed in projects that were chosen for a team. */
    team?: { push?: PushMode | undefined } | undefined;
  }
  interface SettingValues {
    "team.push": PushMode;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    team: Team;
    /** Of a server: its people and machines, in the kernels of people. */
    "team-directory": Directory;
    /** Of a server: who asks, in the kernel of a node. */
    "team-server": TeamServer;
  }
}
