/** Undelete: files as sessions saw them, what sessions destroyed of them, what was stored before a call destroyed it, and the way back. */
import { existsSync } from "node:fs";
import { definePlugin, type RoutesOf } from "sessarc";
import "./errors.ts";
import { config, type NetConfig, toLimits } from "./config.ts";
import type { FilesContract } from "./contract.ts";
import type { Net } from "./net/net.ts";
import { routes } from "./routes.ts";
import type { Undelete } from "./service.ts";

export type { PutFile, Receipt } from "./back/receipts.ts";
export type { FilesContract, StoredFile } from "./contract.ts";
export type { LineEnds, VersionView } from "./history/content.ts";
export type { LostFile } from "./history/lost.ts";
export type { NetCatch, NetFile } from "./net/store.ts";
export type { FileAtVersion, FileHistory, PutBack, PutBackRequest, Undelete } from "./service.ts";
export { routes };

export default definePlugin({
  name: "undelete",
  dependsOn: ["archive"],
  config,
  routes,
  commands: [
    {
      name: "undelete",
      summary: "Versions of a file that sessions saw, also of one that is gone",
      group: "code",
      usage:
        "<path> [--list] [--at time|session|message|commit] [-o file]\n<path> --to folder | --in-place [--force]\n--session <id> [--to folder]\n--undo <receipt>\n--net [call] [--to folder | --in-place [--force]]",
      options: {
        list: { type: "boolean" },
        at: { type: "string" },
        output: { type: "string", short: "o" },
        to: { type: "string" },
        "in-place": { type: "boolean" },
        force: { type: "boolean" },
        session: { type: "string" },
        undo: { type: "string" },
        net: { type: "boolean" },
      },
      help: {
        list: "The versions of the file, or of all files below the folder, newest first",
        at: "A time, a session, session#message or a commit; default the newest version",
        output: "Write the version into this new file",
        to: "Put the files back into this new folder",
        "in-place": "Put the files back where they were, where nothing is",
        force: "With --in-place: replace files that are there, after a copy of each is stored",
        session: "The files that this session destroyed; with --to they are put back",
        undo: "Take back what a receipt wrote",
        net: "What was stored before calls destroyed it (`guard install --net`); with a call its files, with --to or --in-place they are put back",
      },
      current: () => true,
      load: () => import("./command.ts"),
    },
  ],
  setup(kernel) {
    let made: Promise<Undelete> | undefined;
    let netMade: Promise<Net> | undefined;
    const net = () => {
      netMade ??= import("./net/net.ts").then(({ createNet }) => createNet(kernel, toLimits(kernel.config.net)));
      return netMade;
    };
    const service = () => {
      made ??= Promise.all([import("./service.ts"), net()]).then(([{ createUndelete }, one]) =>
        createUndelete(kernel, one),
      );
      return made;
    };
    kernel.hooks.hook("tool:check", async (info) => {
      const { call, decision, role } = info;
      if (!info.net || decision.decision === "block" || kernel.storage.readOnly) return;
      // What the net cannot do never keeps a call from running.
      const problem = await (await net()).catch(call, role).then(
        (stored) => (stored?.isPartial ? "the files that it may destroy are stored in part only" : undefined),
        async (error: unknown) => {
          await kernel.notify("listener:failed", error, { hook: "undelete net" });
          return "the files that it may destroy could not be stored";
        },
      );
      if (problem !== undefined && kernel.config.net.ask === "on" && decision.mode === "enforce")
        decision.ask ??= `sessarc asks about this call: ${problem}. \`sessarc undelete --net\` lists them.`;
    });
    kernel.hooks.hook("archive:rewrite", async (rewrite) => {
      if (existsSync(kernel.storage.path("net"))) await (await net()).rewrite(rewrite);
    });
    // A file stays no longer than its days, also where no call destroys anything any more.
    kernel.hooks.hook("kernel:ready", () => {
      if (kernel.address && !kernel.storage.readOnly && existsSync(kernel.storage.path("net"))) later();
    });
    const later = () => {
      const failed = (error: unknown) => kernel.notify("listener:failed", error, { hook: "undelete net" });
      net()
        .then((one) => one.prune())
        .catch(failed);
    };
    kernel.onClose(async () => (await netMade)?.close());
    kernel.provide("undelete", {
      history: async (path, limit) => (await service()).history(path, limit),
      at: async (path, at) => (await service()).at(path, at),
      lost: async (session) => (await service()).lost(session),
      destroyed: async (span) => (await service()).destroyed(span),
      putBack: async (request) => (await service()).putBack(request),
      receipts: async () => (await service()).receipts(),
      net: async () => (await service()).net(),
      undo: async (id) => (await service()).undo(id),
    });
  },
});

declare module "sessarc" {
  interface PluginConfig {
    net: NetConfig;
  }
  interface UserConfig {
    /** What is stored before a call destroys files (`guard install --net`). */
    net?: Partial<NetConfig> | undefined;
  }
  interface AdapterCapabilities {
    files: FilesContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    undelete: Undelete;
  }
}
