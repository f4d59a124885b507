/** GitHub Copilot: the sessions of its CLI, and Copilot Chat in VS Code. */

import { dirname, join } from "node:path";
import { type SessionRef, type SessionSummary, toIso } from "sessarc";
import { type AdapterEnv, defineAdapter, documentSessions, toTitle } from "sessarc/adapter";
import { createOutputs } from "./cli/outputs.ts";
import { createCliParser } from "./cli/parse.ts";
import { scanCli } from "./cli/scan.ts";
import { createRequestStore } from "./cli/store.ts";
import { traces } from "./cli/traces.ts";
import { readWorkspace } from "./cli/workspace.ts";
import { guard } from "./guard.ts";
import { rescue } from "./rescue.ts";
import { mcp } from "./servers.ts";
import { TOOLS } from "./tools.ts";
import { chatRoots, userFolders, userFoldersBelow } from "./vscode/places.ts";
import { peekChat, readChat } from "./vscode/read.ts";
import { scanVscode } from "./vscode/scan.ts";

export interface CopilotOptions {
  /** Stands for the home folder; it may also be `.copilot`, `session-state`, or a `<User>` folder of VS Code. */
  dir?: string;
}

const CLI_ROOT = /[\\/]session-state$/;

export default defineAdapter((options: CopilotOptions | undefined) => {
  const dir = options?.dir;
  const cliHome = (env: AdapterEnv) =>
    (dir === undefined ? env.env.COPILOT_HOME : "") || join(dir ?? env.home, ".copilot");

  const readStore = createRequestStore();
  const requestsBeside = (sessions: string) => readStore(join(dirname(sessions), "session-store.db"));

  return {
    name: "copilot",
    label: "GitHub Copilot",
    // The command line; VS Code's chats have no version.
    tried: "1.0.102",
    roots: (env) => (dir === undefined ? toRoots(env, cliHome(env)) : rootsBelow(dir)),
    async *scan(root) {
      yield* CLI_ROOT.test(root) ? scanCli(root, await requestsBeside(root)) : scanVscode(root);
    },
    peek: (ref) => (isCli(ref) ? peekCli(ref) : peekChat(ref)),
    appends: isCli,
    async parse(ref, env) {
      const look = async () => {
        const [workspace, requests] = await Promise.all([loadWorkspace(ref), requestsBeside(toSessions(ref))]);
        return { workspace, requests };
      };
      const beside = { ...(await look()), outputs: createOutputs(ref.path, env) };
      return { ...createCliParser(ref, beside), refresh: async () => void Object.assign(beside, await look()) };
    },
    open: documentSessions({ read: readChat }).open,

    tools: TOOLS,
    // Chats of the editor have no command.
    resume: (ref) => (isCli(ref) ? ["copilot", "--resume", ref.key] : undefined),
    skills: {
      dirs: (env) => [
        { path: join(".github", "skills"), scope: "project" },
        { path: join(".agents", "skills"), scope: "project" },
        { path: join(cliHome(env), "skills"), scope: "user" },
      ],
      // The note of `skill.invoked`, which comes with every use; the call that asks for it does not always.
      used: ({ kind, text }) => (kind === "note" ? /^Skill (\S{1,200})$/.exec(text)?.[1] : undefined),
    },
    mcp: mcp(cliHome),
    traces: traces(cliHome),
    rescue: rescue((env) => join(cliHome(env), "session-state")),
    // A command hook denies the call on any exit code but 0, and lets it run on a timeout; http hooks must be https.
    statusline: { label: "Copilot CLI", settings: (env) => join(cliHome(env), "settings.json") },
    guard: guard(cliHome),
  };
});

function toRoots(env: AdapterEnv, cli: string): string[] {
  return [join(cli, "session-state"), ...userFolders(env).flatMap((user) => chatRoots(user, env.platform))];
}

function rootsBelow(dir: string): string[] {
  const cli = [join(dir, ".copilot", "session-state"), join(dir, "session-state")];
  const itself = /[\\/](session-state|workspaceStorage)$/.test(dir) ? [dir] : [];
  return [...cli, ...userFoldersBelow(dir).flatMap((user) => chatRoots(user, "linux")), ...itself];
}

/** VS Code's chats lie in folders whose names end in `chatSessions`. */
function isCli(ref: Pick<SessionRef, "path">): boolean {
  return !/chatsessions$/i.test(dirname(ref.path));
}

/** The folder of all sessions: older logs lie in it, newer ones in a folder each. */
const toSessions = ({ path }: SessionRef): string =>
  path.endsWith("events.jsonl") ? dirname(dirname(path)) : dirname(path);

async function loadWorkspace(ref: SessionRef): Promise<ReadonlyMap<string, string>> {
  return ref.path.endsWith("events.jsonl") ? readWorkspace(join(dirname(ref.path), "workspace.yaml")) : new Map();
}

async function peekCli(ref: SessionRef): Promise<Pick<SessionSummary, "title" | "cwd" | "startedAt" | "gitBranch">> {
  const workspace = await loadWorkspace(ref);
  return {
    title: toTitle(workspace.get("name")),
    cwd: workspace.get("cwd") ?? ref.cwd,
    startedAt: toIso(workspace.get("created_at")),
    gitBranch: workspace.get("branch"),
  };
}
