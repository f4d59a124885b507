/** The built-in plugins, in one place. Order is the order of boot where `dependsOn` says nothing. */
import type { PluginEntry } from "sessarc/serve";

const entry = (
  name: string,
  load: NonNullable<PluginEntry["load"]>,
  commands: readonly string[] = [],
  quick: NonNullable<PluginEntry["quick"]> = {},
): PluginEntry => ({
  specifier: `sessarc/plugins/${name}`,
  load,
  commands,
  quick,
});

/** One assistant of a family: the same module made with other options. */
const variant = (name: string, load: NonNullable<PluginEntry["load"]>, options: { variant: string }): PluginEntry => ({
  ...entry(name, load),
  options,
});

/** New entries on each call: who gets them may set `options`. Nothing is loaded. */
export function defaultPlugins(): PluginEntry[] {
  return [
    entry("claude-code", () => import("./claude-code/index.ts")),
    entry("codex", () => import("./codex/index.ts")),
    entry("cursor", () => import("./cursor/index.ts")),
    entry("opencode", () => import("./opencode/index.ts")),
    entry("gemini-cli", () => import("./gemini-cli/index.ts")),
    entry("copilot", () => import("./copilot/index.ts")),
    entry("pi", () => import("./pi/index.ts")),
    variant("pi", () => import("./pi/index.ts"), { variant: "omp" }),
    variant("pi", () => import("./pi/index.ts"), { variant: "prime" }),
    variant("pi", () => import("./pi/index.ts"), { variant: "openclaw" }),
    variant("pi", () => import("./pi/index.ts"), { variant: "qclaw" }),
    ...["omo", "senpi", "stepcode", "gjc", "kimchi", "letta"].map((name) =>
      variant("pi", () => import("./pi/index.ts"), { variant: name }),
    ),
    entry("grok", () => import("./grok/index.ts")),
    entry("qwen", () => import("./qwen/index.ts")),
    variant("qwen", () => import("./qwen/index.ts"), { variant: "iflow" }),
    entry("kimi", () => import("./kimi/index.ts")),
    variant("kimi", () => import("./kimi/index.ts"), { variant: "kimi-work" }),
    entry("dsh", () => import("./dsh/index.ts")),
    entry("droid", () => import("./droid/index.ts")),
    entry("junie", () => import("./junie/index.ts")),
    entry("vibe", () => import("./vibe/index.ts")),
    entry("aider", () => import("./aider/index.ts")),
    entry("gptme", () => import("./gptme/index.ts")),
    variant("claude-code", () => import("./claude-code/index.ts"), { variant: "openclaude" }),
    ...["codebuddy", "workbuddy", "cowork", "cherry-studio", "qoder", "qoderwork"].map((name) =>
      variant("claude-code", () => import("./claude-code/index.ts"), { variant: name }),
    ),
    variant("codex", () => import("./codex/index.ts"), { variant: "traex" }),
    variant("codex", () => import("./codex/index.ts"), { variant: "open-interpreter" }),
    ...["kilo", "mimo", "icodemate", "zcode"].map((name) =>
      variant("opencode", () => import("./opencode/index.ts"), { variant: name }),
    ),
    entry("cline", () => import("./cline/index.ts")),
    ...["roo", "zoo", "kilo-legacy", "ibm-bob"].map((name) =>
      variant("cline", () => import("./cline/index.ts"), { variant: name }),
    ),
    entry("antigravity", () => import("./antigravity/index.ts")),
    entry("kiro", () => import("./kiro/index.ts")),
    variant("kiro", () => import("./kiro/index.ts"), { variant: "amazon-q" }),
    entry("goose", () => import("./goose/index.ts")),
    entry("zed", () => import("./zed/index.ts")),
    entry("continue", () => import("./continue/index.ts")),
    entry("hermes", () => import("./hermes/index.ts")),
    entry("openhands", () => import("./openhands/index.ts")),
    entry("crush", () => import("./crush/index.ts")),
    entry("devin", () => import("./devin/index.ts")),
    entry("auggie", () => import("./auggie/index.ts")),
    entry("codebuff", () => import("./codebuff/index.ts")),
    variant("codebuff", () => import("./codebuff/index.ts"), { variant: "freebuff-desktop" }),
    entry("command-code", () => import("./command-code/index.ts")),
    entry("chat-export", () => import("./chat-export/index.ts")),
    variant("chat-export", () => import("./chat-export/index.ts"), { variant: "claude-ai" }),
    entry("archive", () => import("./archive/index.ts"), [
      "backup",
      "vacuum",
      "import",
      "projects",
      "search",
      "sessions",
      "show",
      "usage",
    ]),
    entry("insights", () => import("./insights/index.ts"), ["prices"]),
    entry("budget", () => import("./budget/index.ts"), ["budget"]),
    entry("health", () => import("./health/index.ts"), ["health"]),
    entry("metrics", () => import("./metrics/index.ts")),
    entry("report", () => import("./report/index.ts"), ["report"]),
    entry("notes", () => import("./notes/index.ts"), ["mark", "note", "tag", "bookmark", "searches"]),
    entry("statusline", () => import("./statusline/index.ts"), ["statusline"], {
      statusline: () => import("./statusline/quick.ts"),
    }),
    entry("notices", () => import("./notices/index.ts"), ["waiting"]),
    entry("live", () => import("./live/index.ts")),
    entry("causality", () => import("./causality/index.ts")),
    entry("git", () => import("./git/index.ts")),
    entry("blame", () => import("./blame/index.ts"), ["blame", "receipt", "verify", "notes"]),
    entry("security", () => import("./security/index.ts"), ["export", "guard", "scrub"]),
    entry("share", () => import("./share/index.ts")),
    entry("traces", () => import("./traces/index.ts")),
    entry("rescue", () => import("./rescue/index.ts"), ["rescue", "resume", "handoff", "reclaim"]),
    entry("recall", () => import("./recall/index.ts"), ["recall"]),
    entry("mcp-hub", () => import("./mcp-hub/index.ts"), ["mcp"]),
    entry("skills", () => import("./skills/index.ts"), ["skills"]),
    entry("agent-plugin", () => import("./agent-plugin/index.ts"), ["agent-plugin"]),
    entry("replay", () => import("./replay/index.ts"), ["replay"]),
    entry("rules", () => import("./rules/index.ts"), ["rules"]),
    entry("undelete", () => import("./undelete/index.ts"), ["undelete"]),
    entry("team", () => import("./team/index.ts"), ["team", "push"]),
    entry("feedback", () => import("./feedback/index.ts")),
    entry("demo", () => import("./demo/index.ts"), ["demo"]),
    // Last: it answers every address that no other plugin has.
    entry("dashboard", () => import("./dashboard/index.ts")),
  ];
}

// What the plugins answer, for clients. An import of this module's types, even `{}`, brings the routes and services of every plugin.
export type { ImportedPlugin, PluginPlan, PluginStatus, ShownPlugin } from "./agent-plugin/index.ts";
export type {
  Archive,
  Cost,
  FollowFrame,
  ImportReport,
  Message,
  Project,
  ScannedProject,
  SearchResult,
  SearchTotalFrame,
  Session,
  SessionOutcome,
} from "./archive/index.ts";
export type { LineOrigins, Origins } from "./blame/index.ts";
export type { Budget, BudgetPlan, Crossing } from "./budget/index.ts";
export type { Causality } from "./causality/index.ts";
export type {} from "./dashboard/index.ts";
export type { Demo, Sample } from "./demo/index.ts";
export type {} from "./feedback/index.ts";
export type { Commit, FileAt, Git, TreeAt } from "./git/index.ts";
export type { Finding, Waste } from "./health/index.ts";
export type {
  BlockReport,
  BlockRow,
  InsightsAnswer,
  InsightsReport,
  ModelPrice,
  PriceList,
  ProjectAnalytics,
  Trait,
  UsageReport,
  UsageRow,
} from "./insights/index.ts";
export type { FeedStatus, Live } from "./live/index.ts";
export type {} from "./mcp-hub/index.ts";
export type {} from "./metrics/index.ts";
export type { ListedMark, Mark, SavedSearch } from "./notes/index.ts";
export type { LimitNotice, WaitingEntry } from "./notices/index.ts";
export type {
  Answer,
  Ask,
  Evidence,
  Fact,
  FactKind,
  FactQuery,
  Offered,
  OfferService,
  Recall,
} from "./recall/index.ts";
export type { PlanReport, Preview, StepReport, StepView } from "./replay/index.ts";
export type { Report } from "./report/index.ts";
export type {
  Rescued,
  RescueOverview,
  RescuePlan,
  RetentionRule,
  SessionState,
  StateOf,
  Undone,
} from "./rescue/index.ts";
export type { AcceptedRule, Proof, Proposal, RuleOverview } from "./rules/index.ts";
export type {} from "./security/index.ts";
export type {} from "./share/index.ts";
export type {
  Drift,
  FileDiff,
  GitImport,
  Risk,
  Scan,
  ScanEntry,
  Skill,
  SkillComparison,
  SkillDetail,
  SkillLink,
  SkillsOverview,
  SkillUse,
  Snapshot,
  UpdatePlan,
  UpstreamCheck,
} from "./skills/index.ts";
export type { Figures, StatuslineStatus } from "./statusline/index.ts";
export type {} from "./team/index.ts";
export type {} from "./traces/index.ts";
export type {} from "./undelete/index.ts";
