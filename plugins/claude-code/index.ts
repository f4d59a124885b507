/** Claude Code: one JSON-lines file per session below `projects`, sub-agents in files of their own. */
import { existsSync, realpathSync } from "node:fs";
import { basename, join } from "node:path";
import { isRecord, type SessionRef, type SessionSummary } from "sessarc";
import {
  type AdapterDefinition,
  type AdapterEnv,
  defineAdapter,
  folderIn,
  type LineParser,
  type Retention,
  readLines,
  rowsIn,
  type ToolRole,
} from "sessarc/adapter";
import { readRegularSync } from "sessarc/files";
import { mcp, skillDirs, usedSkill } from "./capabilities.ts";
import { copiesOf, storedFiles } from "./files.ts";
import { guard } from "./guard.ts";
import { createParser } from "./parse.ts";
import { RELATIVES, type Relative } from "./relatives.ts";
import { rescue } from "./rescue.ts";
import { scanProjects } from "./scan.ts";
import { traces } from "./traces.ts";
import { readUsage } from "./usage.ts";

export interface ClaudeCodeOptions {
  /** Replaces `~/.claude`; nothing outside it is read then. It may also be a home that holds `.claude`, or the folder `projects`. */
  dir?: string;
  /** Another assistant that writes the same log; then `dir` stands for its folder. */
  variant?: keyof typeof RELATIVES;
}

/** Its own tools by what they do. */
const TOOLS: Readonly<Record<string, ToolRole>> = {
  Agent: "agent",
  Bash: "shell",
  BashOutput: "shell",
  Edit: "edit",
  Glob: "search",
  Grep: "search",
  KillShell: "shell",
  LS: "search",
  MultiEdit: "edit",
  NotebookEdit: "edit",
  NotebookRead: "read",
  PowerShell: "shell",
  Read: "read",
  Task: "agent",
  TaskCreate: "todo",
  TaskUpdate: "todo",
  TodoWrite: "todo",
  WebFetch: "fetch",
  WebSearch: "search",
  Write: "write",
};

/** Bytes that `peek` reads at most: at the head up to the first prompt, at the tail only rows that may name the session. */
const HEAD = 64 * 1024;
const TAIL = 16 * 1024;
const NAMES = /"type":"(?:custom-title|ai-title|summary)"/;

export default defineAdapter(
  (options: ClaudeCodeOptions | undefined): AdapterDefinition =>
    options?.variant ? relative(options.variant, options.dir) : claudeCode(options),
);

const claudeCode = (options: ClaudeCodeOptions | undefined): AdapterDefinition => ({
  name: "claude-code",
  label: "Claude Code",
  tried: "2.1.332",
  roots: (env) => toRoots(env, options),
  scan: scanProjects,
  parse: (ref) => createParser(ref),
  usage: (ref) => readUsage(ref),
  tools: TOOLS,
  resume: ({ key }) => ["claude", "--resume", key],
  peek: (ref) => peekSession(ref, createParser(ref)),

  skills: { dirs: (env) => skillDirs(homes(env, options)), used: usedSkill },
  mcp: mcp(
    (env) => toSettings(env, options),
    (env) => homes(env, options)[0] ?? "",
  ),
  guard: guard((env) => homes(env, options)[0] ?? ""),

  files: {
    showsEnd: true,
    checksEdits: true,
    stored: (ref, _, isWanted) => storedFiles(ref, isWanted),
    copies: (path, env) => copiesOf(path, homes(env, options)),
  },
  instructions: { file: "CLAUDE.md", orCommon: true },
  statusline: { settings: (env) => join(homes(env, options)[0] ?? "", "settings.json") },
  retention: (env) => readRetention(homes(env, options)[0] ?? ""),
  rescue: rescue(
    (env) => toRoots(env, options),
    (env) => homes(env, options)[0] ?? "",
  ),
  traces: traces((env) => homes(env, options)),
});

/** An assistant that writes the same log: what is known of Claude Code beside its logs does not hold for it. */
function relative(name: keyof typeof RELATIVES, dir: string | undefined): AdapterDefinition {
  const { label, roots, places, scan, unproved, parse, command }: Relative = RELATIVES[name];
  return {
    name,
    label,
    ...(unproved && { unproved }),
    roots: (env) => (dir ? [folderIn(dir, ...places)] : roots(env)),
    scan,
    parse(ref) {
      const parser = (parse ?? createParser)(ref);
      const finish = () => ({
        ...(parse ? parser.finish() : shared(parser.finish())),
        ...(ref.title !== undefined && { title: ref.title }),
      });
      return { ...parser, finish };
    },
    ...(!parse && {
      async usage(ref: SessionRef) {
        const found = await readUsage(ref);
        return found && shared(found);
      },
    }),
    tools: TOOLS,
    peek: async (ref) => ({
      ...(await peekSession(ref, (parse ?? createParser)(ref))),
      ...(ref.title && { title: ref.title }),
    }),
    ...(command && { resume: ({ key }) => (key.includes(":") ? undefined : [command, "--resume", key]) }),
  };
}

/** A session that is in Claude Code's folder, too (a desktop program drives it there, or the folder was copied), counts once. */
function shared<T extends Pick<SessionSummary, "replies">>(summary: T): T {
  const { replies } = summary;
  return replies ? { ...summary, replies: replies.map((reply) => ({ ...reply, of: "claude-code" })) } : summary;
}

async function peekSession(ref: SessionRef, parser: LineParser) {
  const size = ref.size ?? HEAD;
  const whole = size <= HEAD;
  let first: string | undefined;
  for await (const line of readLines(ref.path, { end: Math.min(size, HEAD) })) {
    if (first !== undefined && !NAMES.test(line)) continue;
    for (const row of rowsIn(line)) {
      const events = [parser.row(row, { offset: 0, length: line.length }) ?? []].flat();
      first ??= events.find((event) => event.kind === "user")?.text;
    }
    if (first !== undefined && !whole) break;
  }
  for await (const line of whole ? [] : readLines(ref.path, { start: size - TAIL, end: size })) {
    if (!NAMES.test(line)) continue;
    for (const row of rowsIn(line)) parser.row(row, { offset: size, length: line.length });
  }
  const { title, cwd, startedAt, gitBranch } = parser.finish();
  return {
    title: title ?? first?.replace(/\s+/g, " ").trim().slice(0, 120),
    cwd,
    startedAt,
    gitBranch,
  };
}

const toRoots = (env: AdapterEnv, options: ClaudeCodeOptions | undefined) =>
  unique(options?.dir ? [projectsIn(options.dir)] : homes(env, options).map((home) => join(home, "projects")));

/** `CLAUDE_CONFIG_DIR` (a comma list) replaces the defaults, as it does for the tool itself. */
function homes({ home, env }: AdapterEnv, options: ClaudeCodeOptions | undefined): string[] {
  if (options?.dir) return [options.dir];
  const set = (env.CLAUDE_CONFIG_DIR ?? "").split(",").flatMap((part) => part.trim() || []);
  if (set.length > 0) return set;
  return [join(home, ".claude"), join(env.XDG_CONFIG_HOME || join(home, ".config"), "claude")];
}

/** The logs of a chosen folder, whichever of the three it is. */
function projectsIn(dir: string): string {
  const usual = join(dir, "projects");
  if (existsSync(usual)) return usual;
  const inHome = [join(dir, ".claude", "projects"), join(dir, ".config", "claude", "projects")].find(existsSync);
  return inHome ?? (basename(dir) === "projects" ? dir : usual);
}

/** Its state file: beside the default folder, inside a chosen one. */
function toSettings(env: AdapterEnv, options: ClaudeCodeOptions | undefined): string {
  const chosen = options?.dir ?? (env.env.CLAUDE_CONFIG_DIR ? homes(env, options)[0] : undefined);
  return join(chosen ?? env.home, ".claude.json");
}

/** Two names of one folder are one root. */
function unique(roots: readonly string[]): string[] {
  const seen = new Set<string>();
  return roots.filter((root) => {
    const real = realPath(root);
    if (seen.has(real)) return false;
    seen.add(real);
    return true;
  });
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path; // not there (yet)
  }
}

/** The tool deletes sessions that were not used for `cleanupPeriodDays`; without the setting, 30 days. */
function readRetention(home: string): Retention {
  const path = join(home, "settings.json");
  let settings: unknown;
  try {
    settings = JSON.parse(readRegularSync(path));
  } catch {
    settings = undefined; // no settings, or not ours to judge: the default applies
  }
  const days = isRecord(settings) ? Number(settings.cleanupPeriodDays) : Number.NaN;
  return Number.isFinite(days) && days >= 0 ? { days, source: path } : { days: 30, source: "default" };
}
