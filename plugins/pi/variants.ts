/** The assistants that write pi's log, as data. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { SessionRef } from "sessarc";
import type { AdapterEnv, ToolRole } from "sessarc/adapter";

export interface Variant {
  name: string;
  label: string;
  /** Folders of logs of this machine. */
  roots(env: AdapterEnv): string[];
  /** Where logs are below a folder that the user chose: a home, or the tool's own folder. */
  places: readonly string[];
  /** Folders of skills: of a project, of the user (relative to the home). */
  skills: { project: readonly string[]; user: readonly string[] };
  /** File of tool servers, relative to the home. */
  servers?: string;
  resume?(ref: Pick<SessionRef, "key" | "path">): readonly string[];
  tools?: Readonly<Record<string, ToolRole>>;
  /** Newer versions keep transcripts in a database below the same folders. */
  hasDatabase?: boolean;
  /** The newest version whose own logs were compared. */
  tried?: string;
  /** Its logs are found elsewhere, or are pi's in part. */
  isLetta?: boolean;
  /** No log that it wrote was compared with what is read. */
  unproved?: boolean;
}

export const TOOLS: Readonly<Record<string, ToolRole>> = {
  bash: "shell",
  edit: "edit",
  find: "search",
  grep: "search",
  ls: "search",
  read: "read",
  write: "write",
};

const agent = (env: AdapterEnv, folder: string, variables: readonly [sessions: string, agent: string]): string => {
  const [sessions, base] = variables.map((name) => env.env[name]);
  return sessions || join(base || join(env.home, folder, "agent"), "sessions");
};

/** One whose folder is named by variables of its own: `<NAME>_CODING_AGENT_SESSION_DIR` is that of its sessions. */
const relative = (name: string, label: string, folder: string, prefix: string): Variant => ({
  name,
  label,
  roots: (env) => [agent(env, folder, [`${prefix}_CODING_AGENT_SESSION_DIR`, `${prefix}_CODING_AGENT_DIR`])],
  places: ["sessions", "agent/sessions", `${folder}/agent/sessions`],
  skills: { project: [`${folder}/skills`], user: [`${folder}/agent/skills`] },
  unproved: true,
});

/** OpenClaw and its earlier names keep a folder of sessions for each agent. */
const CLAWS = [".openclaw", ".clawdbot", ".moltbot", ".moldbot"];
const CLAW_TOOLS: Readonly<Record<string, ToolRole>> = {
  apply_patch: "patch",
  edit: "edit",
  exec: "shell",
  ls: "search",
  process: "shell",
  read: "read",
  write: "write",
};

export const VARIANTS = {
  pi: {
    name: "pi",
    label: "pi",
    roots: (env) => [agent(env, ".pi", ["PI_CODING_AGENT_SESSION_DIR", "PI_CODING_AGENT_DIR"])],
    places: ["sessions", "agent/sessions", ".pi/agent/sessions"],
    skills: { project: [".pi/skills"], user: [".pi/agent/skills"] },
    resume: ({ path }) => ["pi", "--session", path],
    tried: "1.6.0",
  },
  omp: {
    name: "omp",
    label: "oh-my-pi",
    roots: ompRoots,
    places: ["sessions", "agent/sessions", ".omp/agent/sessions"],
    skills: { project: [".agents/skills"], user: [".agents/skills"] },
    servers: ".omp/agent/mcp.json",
    resume: ({ key }) => ["omp", "-r", key],
  },
  prime: {
    name: "prime",
    label: "Prime Agent",
    roots: (env) => [
      env.env.PRIME_AGENT_SESSION_DIR ||
        env.env.PRIME_AGENT_CODING_AGENT_SESSION_DIR ||
        join(env.home, ".prime", "agent", "sessions"),
    ],
    places: ["sessions", "agent/sessions", ".prime/agent/sessions"],
    skills: { project: [".prime/agent/skills"], user: [".agents/skills"] },
    resume: ({ key }) => ["prime-agent", "--resume", key],
  },
  openclaw: {
    name: "openclaw",
    label: "OpenClaw",
    tried: "2026.9.6",
    roots: ({ home, env }) =>
      (env.OPENCLAW_STATE_DIR ? [env.OPENCLAW_STATE_DIR] : CLAWS.map((name) => join(home, name))).map((state) =>
        join(state, "agents"),
      ),
    places: ["agents", ...CLAWS.map((name) => `${name}/agents`)],
    skills: { project: [], user: [".openclaw/skills"] },
    tools: CLAW_TOOLS,
    hasDatabase: true,
  },
  qclaw: {
    name: "qclaw",
    label: "QClaw",
    roots: ({ home }) => [join(home, ".qclaw", "agents")],
    places: ["agents", ".qclaw/agents"],
    skills: { project: [], user: [".qclaw/skills"] },
    tools: CLAW_TOOLS,
  },
  omo: relative("omo", "Oh My OpenAgent", ".omo", "OMO"),
  senpi: relative("senpi", "Senpi", ".senpi", "SENPI"),
  stepcode: relative("stepcode", "StepCode", ".stepcode", "STEP"),
  gjc: relative("gjc", "Gajae Code", ".gjc", "GJC"),
  kimchi: {
    name: "kimchi",
    label: "Kimchi",
    roots: ({ home }) => [join(home, ".config", "kimchi", "harness", "sessions")],
    places: ["sessions", "harness/sessions", ".config/kimchi/harness/sessions"],
    skills: { project: [], user: [".config/kimchi/harness/skills"] },
    unproved: true,
  },
  letta: {
    name: "letta",
    label: "Letta Code",
    roots: ({ home, env }) => [
      join(env.LETTA_LOCAL_BACKEND_DIR || join(home, ".letta", "lc-local-backend"), "conversations"),
      env.LETTA_TRANSCRIPT_ROOT || join(home, ".letta", "transcripts"),
    ],
    places: [
      ...["lc-local-backend/conversations", ".letta/lc-local-backend/conversations"],
      ...["conversations", "transcripts", ".letta/transcripts"],
    ],
    skills: { project: [".skills"], user: [".letta/skills"] },
    tools: {
      Bash: "shell",
      Edit: "edit",
      Glob: "search",
      Grep: "search",
      MultiEdit: "edit",
      Read: "read",
      Task: "agent",
      TodoWrite: "todo",
      Write: "write",
    },
    isLetta: true,
    unproved: true,
  },
} satisfies Record<string, Variant>;

/** The usual folder, those of profiles, and the same two below the folder of XDG. */
function ompRoots({ home, env }: AdapterEnv): string[] {
  const base = join(home, ".omp");
  const data = env.XDG_DATA_HOME ? join(env.XDG_DATA_HOME, "omp") : undefined;
  return [
    join(base, "agent", "sessions"),
    ...folders(join(base, "profiles")).map((profile) => join(profile, "agent", "sessions")),
    ...(data ? [data, ...folders(join(data, "profiles"))].map((dir) => join(dir, "sessions")) : []),
  ];
}

function folders(dir: string): string[] {
  try {
    const entries = readdirSync(dir, { withFileTypes: true });
    return entries.flatMap((entry) => (entry.isDirectory() ? [join(dir, entry.name)] : [])).sort();
  } catch {
    return []; // no profiles
  }
}
