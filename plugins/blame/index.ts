/** Blame and receipt: which prompt wrote a line, and what a change cost. */
import { defineIndexer, definePlugin, type RoutesOf } from "sessarc";
import { REDACTED_HELP, REDACTED_OPTIONS } from "sessarc/terminal";
import { authorshipRoutes } from "./authorship/routes.ts";
import { stagedRoutes } from "./hook/staged.ts";
import { receiptRoutes } from "./receipt/routes.ts";
import { routes as blameRoutes } from "./routes.ts";
import { migrations } from "./schema.ts";
import type { Blame } from "./taken.ts";
import "./verify/errors.ts";
import { config, type VerifyPolicy } from "./verify/policy.ts";
import { verifyRoutes } from "./verify/routes.ts";

export type { TraceRecord } from "./authorship/agent-trace.ts";
export type { NotesWritten } from "./authorship/routes.ts";
export type { FoundPlace } from "./find.ts";
export type { LineEvidence } from "./match/match.ts";
export type { Origins, Writer } from "./origins.ts";
export type { LineOrigins, WriterDetail } from "./reasons.ts";
export type { EditFate, EditState, SessionEdits } from "./receipt/edits.ts";
export type { Receipt, ReceiptSession } from "./receipt/receipt.ts";
export type { CommitRow, Commits } from "./receipt/routes.ts";
export type { Blame, TakenBy, TurnOf } from "./taken.ts";
export type { VerifyAnswer } from "./verify/routes.ts";
export type { Envelope, Statement } from "./verify/statement.ts";
export type { LineCounts, VerifiedCommit, VerifiedSession } from "./verify/verify.ts";
export type { LineWhy } from "./why.ts";

export const routes = [
  ...blameRoutes,
  ...receiptRoutes,
  ...authorshipRoutes,
  ...stagedRoutes,
  ...verifyRoutes,
] as const;

export default definePlugin({
  name: "blame",
  dependsOn: ["archive", "git"],
  config,
  routes,
  migrations,
  setup(kernel) {
    let made: Promise<Blame> | undefined;
    kernel.provide("blame", {
      async takenBy(turns) {
        made ??= import("./taken.ts").then(({ createBlame }) => createBlame(kernel));
        return (await made).takenBy(turns);
      },
    });
  },
  indexers: [
    defineIndexer({
      name: "writes",
      version: 3,
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
      usage: "<file>[:line|:from-to] [--at rev] [--porcelain] [--format agent-trace] [--redacted]",
      options: {
        ...REDACTED_OPTIONS,
        at: { type: "string" },
        porcelain: { type: "boolean" },
        format: { type: "string" },
      },
      values: { format: ["text", "agent-trace"] },
      help: {
        ...REDACTED_HELP,
        at: "A branch, tag or commit; default HEAD",
        porcelain: "As `git blame --porcelain`, with extra headers that start with sessarc-",
        format: "text, or agent-trace: a record of Agent Trace as JSON",
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
        "[commit|branch|base..head|last] [--format md|agent-trace] [--redacted]\n[commit|branch|base..head|last] --notes [--prompts] [--convert] [--push]\n--hook install|uninstall",
      options: {
        ...REDACTED_OPTIONS,
        hook: { type: "string" },
        message: { type: "string" },
        project: { type: "string" },
        format: { type: "string" },
        notes: { type: "boolean" },
        titles: { type: "boolean" },
        prompts: { type: "boolean" },
        convert: { type: "boolean" },
        push: { type: "boolean" },
      },
      values: { format: ["text", "md", "agent-trace"], hook: ["install", "uninstall"] },
      help: {
        ...REDACTED_HELP,
        hook: "install: this repository's prepare-commit-msg names session and assistant (Assisted-by); uninstall: no longer",
        message: "What that hook runs: adds these lines to this message file",
        project: "Id, name or folder of a project; default the working directory",
        format: "text; md for a pull request, without titles and prompts; agent-trace: a record of Agent Trace a line",
        titles: "With md: the titles of the sessions",
        notes: "Write who wrote its lines as a git note of each commit, under refs/notes/ai (Git AI Standard)",
        convert: "With --notes: all commits with a note under refs/notes/sessarc, which is removed",
        push: "With --notes: push refs/notes/ai to the branch's remote",
        prompts: "With md or --notes: the prompts, without secrets",
      },
      current: () => true,
      load: () => import("./commands/receipt.ts"),
    },
    {
      name: "verify",
      summary: "Who wrote a range of commits, its checks and secrets",
      group: "code",
      example: "main..HEAD --format md",
      usage:
        "[commit|branch|base..head|last] [--format md|sarif|in-toto] [--titles]\n--check <file> [--key <public key file>]",
      options: {
        project: { type: "string" },
        format: { type: "string" },
        titles: { type: "boolean" },
        check: { type: "string" },
        key: { type: "string" },
      },
      values: { format: ["text", "md", "sarif", "in-toto"] },
      help: {
        project: "Id, name or folder of a project; default the repository around the working directory",
        format: "text; md for a pull request; sarif: the secrets; in-toto: a signed statement",
        titles: "With md: the titles of the sessions",
        check: "A file that --format in-toto printed: whether it is unchanged since it was signed",
        key: "With --check: the public key of the machine that signed it; default this machine's",
      },
      current: () => true,
      load: () => import("./commands/verify.ts"),
    },
    {
      name: "notes",
      hidden: true,
      summary: "Writes who wrote the lines of commits as git notes, under refs/notes/ai",
      usage: "write [commit|branch|base..head|last] [--format git-ai] [--prompts] [--convert] [--push]",
      options: {
        project: { type: "string" },
        prompts: { type: "boolean" },
        convert: { type: "boolean" },
        push: { type: "boolean" },
        format: { type: "string" },
      },
      values: { format: ["git-ai"] },
      operands: ["write"],
      help: {
        project: "Id, name or folder of a project; default the working directory",
        prompts: "With the texts of the prompts, without secrets",
        convert: "All commits with a note under refs/notes/sessarc, which is removed",
        push: "Push refs/notes/ai to the branch's remote",
        format: "git-ai",
      },
      current: () => true,
      load: () => import("./commands/notes.ts"),
    },
  ],
});

declare module "sessarc" {
  interface PluginConfig {
    verify: VerifyPolicy;
  }
  interface UserConfig {
    /** What makes `sessarc verify` fail; default nothing. */
    verify?: Partial<VerifyPolicy> | undefined;
  }
  interface ApiRoutes extends RoutesOf<typeof routes> {}
  interface Services {
    blame: Blame;
  }
}
