/** Blame and receipt: which prompt wrote a line, and what a change cost. */
import { defineIndexer, definePlugin, type RoutesOf } from "sessarc";
import { REDACTED_HELP, REDACTED_OPTIONS } from "sessarc/terminal";
import { receiptRoutes } from "./receipt/routes.ts";
import { routes as blameRoutes } from "./routes.ts";
import { migrations } from "./schema.ts";

export type { FoundPlace } from "./find.ts";
export type { LineEvidence } from "./match/match.ts";
export type { Origins, Writer } from "./origins.ts";
export type { LineOrigins, WriterDetail } from "./reasons.ts";
export type { EditFate, EditState, SessionEdits } from "./receipt/edits.ts";
export type { Receipt, ReceiptSession } from "./receipt/receipt.ts";
export type { CommitRow, Commits } from "./receipt/routes.ts";
export type { LineWhy } from "./why.ts";

export const routes = [...blameRoutes, ...receiptRoutes] as const;

export default definePlugin({
  name: "blame",
  dependsOn: ["archive", "git"],
  routes,
  migrations,
  indexers: [
    defineIndexer({
      name: "writes",
      version: 2,
      module: "sessarc/plugins/blame/indexer/indexer",
      tables: ["blame_file", "blame_session"],
    }),
  ],
  commands: [
    {
      name: "blame",
      summary: "Which session and prompt wrote the lines of a file",
      group: "code",
      example: "src/server.ts:42",
      usage: "<file>[:line|:from-to] [--at rev] [--porcelain] [--redacted]",
      options: { ...REDACTED_OPTIONS, at: { type: "string" }, porcelain: { type: "boolean" } },
      help: {
        ...REDACTED_HELP,
        at: "A branch, tag or commit; default HEAD",
        porcelain: "As `git blame --porcelain`, with extra headers that start with sessarc-",
      },
      current: () => true,
      load: () => import("./commands/blame.ts"),
    },
    {
      name: "receipt",
      summary: "What a commit, a branch or a range of commits cost",
      group: "code",
      example: "main..HEAD",
      usage:
        "[commit|branch|base..head|last] [--format md] [--redacted]\n[commit|branch|base..head|last] --notes [--prompts]",
      options: {
        ...REDACTED_OPTIONS,
        project: { type: "string" },
        format: { type: "string" },
        notes: { type: "boolean" },
        titles: { type: "boolean" },
        prompts: { type: "boolean" },
      },
      values: { format: ["text", "md"] },
      help: {
        ...REDACTED_HELP,
        project: "Id, name or folder of a project; default the working directory",
        format: "text, or md for a pull request: without titles and prompts",
        titles: "With md: the titles of the sessions",
        notes: "Write a git note for each commit, under refs/notes/sessarc",
        prompts: "With md or --notes: the prompts, without secrets",
      },
      current: () => true,
      load: () => import("./commands/receipt.ts"),
    },
    {
      name: "notes",
      hidden: true,
      summary: "Writes receipts of commits as git notes, under refs/notes/sessarc",
      usage: "write [commit|branch|base..head|last] [--prompts]",
      options: { project: { type: "string" }, prompts: { type: "boolean" } },
      operands: ["write"],
      help: {
        project: "Id, name or folder of a project; default the working directory",
        prompts: "With the texts of the prompts, without secrets",
      },
      current: () => true,
      load: () => import("./commands/notes.ts"),
    },
  ],
});

declare module "sessarc" {
  interface ApiRoutes extends RoutesOf<typeof routes> {}
}
