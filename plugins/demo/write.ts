/** Writes the sample logs of all six tools, and the projects they speak about, into a folder that plays the home. */
import { mkdir, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { claudeCode } from "./formats/claude-code.ts";
import { codex } from "./formats/codex.ts";
import { copilot } from "./formats/copilot.ts";
import { cursor } from "./formats/cursor.ts";
import { geminiCli } from "./formats/gemini-cli.ts";
import type { LogFile } from "./formats/log.ts";
import { openCode } from "./formats/opencode.ts";
import { type PlayedProject, playProject } from "./play.ts";
import { writeFiles, writeRepository } from "./repository.ts";
import type { Tool } from "./script.ts";
import { MCP } from "./setup/mcp.ts";
import { SKILLS } from "./setup/skills.ts";
import { writeSetup } from "./setup/write.ts";
import { ledger } from "./stories/ledger.ts";
import { notes } from "./stories/notes.ts";
import { tidepool } from "./stories/tidepool.ts";

export interface DemoOptions {
  /** An empty folder; created when missing. */
  home: string;
  /** Decides every time in the logs: equal dates give equal files. */
  now?: Date;
  /** Where Cursor keeps its databases depends on it. */
  platform?: NodeJS.Platform;
  /** With skills and MCP configurations of the assistants. Default: their logs alone. */
  setup?: boolean;
}

export interface Demo {
  home: string;
  sessions: number;
  /** False when git is missing: the project is then a plain folder. */
  repository: boolean;
}

/** Cost: about 300 small files, some twenty calls of git. */
export async function writeDemo(options: DemoOptions): Promise<Demo> {
  const { home, now = new Date(), platform = process.platform, setup = false } = options;
  const played = [tidepool, ledger, notes].map((project) =>
    playProject(project, join(home, project.folder), now.getTime()),
  );
  const [repository] = await Promise.all([
    Promise.all(played.map(writeProject)),
    logFiles(played, platform).then((files) => writeLogs(home, files)),
  ]);
  if (setup) await writeSetup(home, [...SKILLS, ...MCP]);
  return { home, sessions: played.flatMap((p) => p.sessions).length, repository: repository.every(Boolean) };
}

async function writeProject({ project, path, commits, files }: PlayedProject): Promise<boolean> {
  const made = project.repository ? await writeRepository(path, commits) : true;
  await writeFiles(path, files);
  return made;
}

async function logFiles(projects: readonly PlayedProject[], platform: NodeJS.Platform): Promise<LogFile[]> {
  const sessions = projects.flatMap((project) => project.sessions);
  const by = (tool: Tool) => sessions.filter((played) => played.story.tool === tool);
  return [
    ...claudeCode(by("claude-code")),
    ...codex(by("codex")),
    ...geminiCli(by("gemini-cli")),
    ...copilot(by("copilot")),
    ...openCode(by("opencode")),
    ...(await cursor(by("cursor"), cursorFolder(platform))),
  ];
}

function cursorFolder(platform: NodeJS.Platform): string {
  if (platform === "darwin") return "Library/Application Support/Cursor/User";
  if (platform === "win32") return "AppData/Roaming/Cursor/User";
  return ".config/Cursor/User";
}

async function writeLogs(home: string, files: readonly LogFile[]): Promise<void> {
  const folders = new Set(files.map((file) => dirname(join(home, file.path))));
  await Promise.all([...folders].map((folder) => mkdir(folder, { recursive: true })));
  await Promise.all(
    files.map(async (file) => {
      const path = join(home, file.path);
      await writeFile(path, file.content);
      await utimes(path, file.at / 1000, file.at / 1000);
    }),
  );
}
