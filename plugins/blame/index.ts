/** Blame and receipt: which prompt wrote a line, and what a change cost. */
import { defineIndexer, definePlugin, type RoutesOf } from "sessarc";
import { routes } from "./routes.ts";
import { migrations } from "./schema.ts";

export type { LineEvidence } from "./match/match.ts";
export type { Origins, Writer } from "./origins.ts";
export type { LineOrigins, WriterDetail } from "./reasons.ts";
export { routes };

export default definePlugin({
  name: "blame",
  dependsOn: ["archive", "git"],
  routes,
  migrations,
  indexers: [
    defineIndexer({
      name: "writes",
      version: 1,
      module: "sessarc/plugins/blame/indexer/indexer",
      tables: ["blame_file", "blame_session"],
    }),
  ],
  commands: [
    {
      name: "blame",
      summary: "Which session and prompt wrote the lines of a file",
      usage: "<file>[:line|:from-to] [--at rev] [--porcelain]",
      options: { at: { type: "string" }, porcelain: { type: "boolean" } },
      help: {
        at: "A branch, tag or commit; default HEAD",
        porcelain: "As `git blame --porcelain`, with extra headers that start with sessarc-",
      },
      load: () => import("./commands/blame.ts"),
    },
  ],
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
