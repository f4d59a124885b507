/** Undelete: files as sessions saw them, what sessions destroyed of them, and the way back. */
import { definePlugin, type RoutesOf } from "sessarc";
import "./errors.ts";
import type { FilesContract } from "./contract.ts";
import { routes } from "./routes.ts";
import type { Undelete } from "./service.ts";

export type { PutFile, Receipt } from "./back/receipts.ts";
export type { FilesContract, StoredFile } from "./contract.ts";
export type { LineEnds, VersionView } from "./history/content.ts";
export type { LostFile } from "./history/lost.ts";
export type { FileAtVersion, FileHistory, PutBack, PutBackRequest, Undelete } from "./service.ts";
export { routes };

export default definePlugin({
  name: "undelete",
  dependsOn: ["archive"],
  routes,
  commands: [
    {
      name: "undelete",
      summary: "Versions of a file that sessions saw, also of one that is gone",
      group: "code",
      usage:
        "<path> [--list] [--at time|session|message|commit] [-o file]\n<path> --to folder | --in-place [--force]\n--session <id> [--to folder]\n--undo <receipt>",
      options: {
        list: { type: "boolean" },
        at: { type: "string" },
        output: { type: "string", short: "o" },
        to: { type: "string" },
        "in-place": { type: "boolean" },
        force: { type: "boolean" },
        session: { type: "string" },
        undo: { type: "string" },
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
      },
      current: () => true,
      load: () => import("./command.ts"),
    },
  ],
  setup(kernel) {
    let made: Promise<Undelete> | undefined;
    const service = () => {
      made ??= import("./service.ts").then(({ createUndelete }) => createUndelete(kernel));
      return made;
    };
    kernel.provide("undelete", {
      history: async (path, limit) => (await service()).history(path, limit),
      at: async (path, at) => (await service()).at(path, at),
      lost: async (session) => (await service()).lost(session),
      putBack: async (request) => (await service()).putBack(request),
      receipts: async () => (await service()).receipts(),
      undo: async (id) => (await service()).undo(id),
    });
  },
});

declare module "sessarc" {
  interface AdapterCapabilities {
    files: FilesContract;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    undelete: Undelete;
  }
}
