/** Recall: what was decided, failed, fixed and corrected before, as evidence from the archive. */
import { defineIndexer, definePlugin, type RoutesOf } from "sessarc";
import type { Command } from "sessarc/terminal";
import type { AskStats } from "./answer/candidates.ts";
import type { Answer, Ask } from "./answer/contract.ts";
import type { Fact, FactQuery } from "./facts/contract.ts";
import { config, type Switch } from "./offer/config.ts";
import { offerRoutes } from "./offer/routes.ts";
import { migrations as offerMigrations } from "./offer/schema.ts";
import { type OfferService, setUpOffers } from "./offer/setup.ts";
import { routes as askRoutes } from "./routes.ts";
import { migrations } from "./schema.ts";

export type { AskStats } from "./answer/candidates.ts";
export type { Answer, Ask, CodeState, Evidence, EvidenceKind } from "./answer/contract.ts";
export type { Fact, FactKind, FactQuery } from "./facts/contract.ts";
export type { Offered } from "./offer/schema.ts";
export type { OfferService } from "./offer/setup.ts";

export const routes = [...askRoutes, ...offerRoutes] as const;

const command: Command = {
  name: "recall",
  summary: "What earlier sessions say about a question, a file or an error",
  group: "look",
  example: '"why do we use sqlite for the queue"',
  usage:
    "<question…>\n--file path | --command line | --error text\n[--project p] [--tokens n]\ninstall [--tool t] [--without start|command|file] [--dry-run]\nuninstall [--tool t]\nlog",
  options: {
    file: { type: "string" },
    command: { type: "string" },
    error: { type: "string" },
    project: { type: "string" },
    tokens: { type: "string" },
    tool: { type: "string", short: "t" },
    without: { type: "string", multiple: true },
    "dry-run": { type: "boolean" },
  },
  help: {
    file: "What was decided, corrected and tried about this file: a path, or the end of one",
    command: "Whether this command failed before, and what made it work",
    error: "Where this error was seen, and what fixed it: its text, or a part",
    project: "Only sessions of this project: its id, name or path",
    tokens: "Longest answer in tokens, 50 to 8000 (default 600)",
    tool: "The assistant; `guard status` lists them, the first one is the default",
    without:
      "Do not offer this: start (of a session), command (that failed before) or file (that is changed); may be repeated",
    "dry-run": "Show the change to the settings and make none",
  },
  values: { without: ["start", "command", "file"] },
  current: (flags) => flags["dry-run"] !== true,
  load: () => import("./command.ts"),
};

/** The service "recall". */
export interface Recall {
  /** Facts of sessions, newest first; with `subject` those of the same command first. Texts are masked. Cost: an index lookup, and the facts of the sessions it names. */
  facts(query: FactQuery): Promise<Fact[]>;
  /**
   * The best evidence of the archive, or none. Deterministic; no model is called. Cost: one pass over the index of the archive, and 20 chunks of
   * messages at most; `onEnd` is called with what a search read, and not where the facts of a command or file suffice.
   */
  answer(ask: Ask, onEnd?: (stats: AskStats) => void): Promise<Answer>;
  /** Loads what the first question would wait for: the rules that mask secrets, the sessions and their signatures. Some 16 MiB stay in memory. */
  warmUp(): Promise<void>;
}

export default definePlugin({
  name: "recall",
  dependsOn: ["archive", "security"],
  config,
  routes,
  commands: [command],
  migrations: [...migrations, ...offerMigrations],
  indexers: [
    defineIndexer({
      name: "facts",
      version: 1,
      module: "sessarc/plugins/recall/facts/indexer",
      tables: ["recall_facts", "recall_file"],
    }),
  ],
  setup(kernel) {
    setUpOffers(kernel);
    kernel.provide("recall", {
      async facts(query) {
        const { findFacts, maskFacts } = await import("./facts/facts.ts");
        return maskFacts(kernel, await findFacts(kernel, query));
      },
      async answer(ask, onEnd) {
        const { answer } = await import("./answer/answer.ts");
        return answer(kernel, ask, onEnd);
      },
      async warmUp() {
        const { warmUp } = await import("./answer/answer.ts");
        await warmUp(kernel);
      },
    });
  },
});

declare module "sessarc" {
  interface PluginConfig {
    recall: Record<"start" | "command" | "file", Switch>;
  }
  interface UserConfig {
    /** What installed hooks offer: at a session's `start`, with a `command` that failed before, with the change of a `file`; each `on` (the default) or `off`. */
    recall?: Partial<Record<"start" | "command" | "file", Switch>> | undefined;
  }
  interface SettingValues {
    /** Offered at a session's start. */
    "recall.start": Switch;
    /** Offered with a command that failed before. */
    "recall.command": Switch;
    /** Offered with the change of a file. */
    "recall.file": Switch;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    recall: Recall;
    offers: OfferService;
  }
}
