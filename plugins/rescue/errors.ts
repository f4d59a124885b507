/** Error codes of the rescue. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    RESCUE_IMPOSSIBLE: { id: string; reason: string };
    RESCUE_OUTSIDE: { path: string; reason: string };
    RESCUE_NOTHING: { id: string };
    NOT_RESUMABLE: { id: string };
    NO_TERMINAL: { command: string };
    RESCUE_COMMAND_MISSING: { program: string; command: string };
    LOG_FILE_MISSING: { id: string; file: number };
    RETENTION_FIXED: { tool: string; reason: string };
    LOGS_RECLAIMED: { sessions: number };
  }
}

export const errors = defineErrors({
  RESCUE_IMPOSSIBLE: { status: 422, why: ({ id, reason }) => `Session ${id} cannot be put back: ${reason}` },
  RESCUE_OUTSIDE: {
    status: 422,
    why: ({ path, reason }) => `${path} is not written: ${reason}`,
    fix: () => "Check the folders of the assistant for links and for files of other users.",
  },
  RESCUE_COMMAND_MISSING: {
    status: 422,
    why: ({ program }) => `The assistant puts its sessions back itself, and its program ${program} is not in the PATH`,
    fix: ({ command }) => `Install it and try again, or run where it is installed: ${command}`,
  },
  RESCUE_NOTHING: {
    status: 404,
    why: ({ id }) => `Nothing was put back for session ${id}`,
    fix: () => "`sessarc rescue` lists the sessions that can be put back.",
  },
  NOT_RESUMABLE: {
    status: 422,
    why: ({ id }) => `Session ${id} cannot be resumed: its assistant has no command for it, or its log is gone`,
    fix: () => "`sessarc resume <session>` puts a log back that is gone and resumes it.",
  },
  NO_TERMINAL: {
    status: 422,
    why: () => "The service cannot open a terminal here",
    fix: ({ command }) => `Run in a terminal: ${command}`,
  },
  LOG_FILE_MISSING: {
    status: 404,
    why: ({ id, file }) => `The log of session ${id} has no file ${file} any more`,
    fix: () => "GET /sessions/:id/log lists the files that are there.",
  },
  RETENTION_FIXED: {
    status: 422,
    why: ({ tool, reason }) => `How long ${tool} retains its logs cannot be changed: ${reason}`,
    fix: () => "Change it in the assistant itself.",
  },
  LOGS_RECLAIMED: {
    status: 409,
    why: ({ sessions }) =>
      `The stored logs are the only copies of ${sessions} sessions, whose logs were removed to give their room back`,
    fix: () => "Put them back first: `sessarc reclaim --undo`.",
  },
});
