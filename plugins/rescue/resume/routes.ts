/** Routes that go on with a session in the user's terminal. */
import { defineRoute, type Kernel, SessarcError } from "sessarc";
import { isLoopback } from "sessarc/serve";
import { findTerminal, openTerminal, type Terminal } from "./terminal.ts";

/** A service that other machines reach opens nothing on this one's screen. */
const terminalOf = async ({ config, env }: Kernel): Promise<Terminal | undefined> =>
  isLoopback(config.host) ? findTerminal(env) : undefined;

const terminal = defineRoute({
  method: "GET",
  path: "/terminal",
  summary:
    "The terminal that the service can open on this machine; null where it has none, or where other machines reach the service",
  handler: async ({ kernel }) => ({ name: (await terminalOf(kernel))?.name ?? null }),
});

const resume = defineRoute({
  method: "POST",
  path: "/sessions/:id/resume",
  summary: "Opens the user's terminal in the session's folder with the command that resumes it",
  handler: async ({ kernel, params: { id } }) => {
    const found = await kernel.inject("archive").resume(id);
    if (!found) throw new SessarcError("NOT_RESUMABLE", { id });
    const cwd = found.cwd ?? kernel.env.home;
    if (found.folderGone) throw new SessarcError("NO_SUCH_FOLDER", { path: cwd });
    const opened = await terminalOf(kernel);
    if (!opened) throw new SessarcError("NO_TERMINAL", { command: found.command });
    await openTerminal(opened, { words: found.words, cwd }, kernel.env);
    return { terminal: opened.name, command: found.command, cwd };
  },
});

export const resumeRoutes = [terminal, resume] as const;
