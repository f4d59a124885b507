/** Error codes of the archive. */
import { defineErrors } from "sessarc";

declare module "sessarc" {
  interface ErrorParams {
    SESSION_AMBIGUOUS: { wanted: string; ids: readonly string[]; count: number };
    NOT_VIRTUAL: { id: string };
    NOT_ASSOCIATED: { id: string };
    NO_SUCH_FOLDER: { path: string };
    SOURCE_SHARED: { id: string; reason: string };
    SOURCE_CHANGED: { id: string; reason: string };
    SOURCE_LEFT: { id: string; path: string; reason: string };
    ADAPTER_MISSING: { tool: string };
    FOLDER_KNOWN: { path: string; known: string };
    FOLDER_REFUSED: { path: string; reason: string };
    FOLDER_UNKNOWN: { path: string; tool: string };
    BACKUP_ELSEWHERE: { driver: string };
    FIGURES_REFUSED: { adapter: string; session: string; path: string; reason: string };
    OTLP_FAILED: { url: string; reason: string };
    INDEXER_FAILED: { indexer: string; session: string; reason: string };
  }
}

export const errors = defineErrors({
  SESSION_AMBIGUOUS: {
    status: 400,
    why: ({ wanted, count }) => `${JSON.stringify(wanted)} fits ${count} sessions`,
    fix: ({ ids }) => `Name one of them: ${ids.join(", ")}.`,
  },
  NOT_VIRTUAL: {
    status: 409,
    why: ({ id }) => `Project ${id} is a folder or repository already`,
    fix: () => "Only projects without a folder can be associated.",
  },
  NOT_ASSOCIATED: {
    status: 409,
    why: ({ id }) => `Project ${id} is not associated with another one`,
    fix: () => "`sessarc projects` (GET /projects) lists the projects that are associated.",
  },
  NO_SUCH_FOLDER: {
    status: 422,
    why: ({ path }) => `${path} is no existing folder`,
    fix: () => "Give the absolute path of a folder on this machine.",
  },
  FIGURES_REFUSED: {
    status: 500,
    why: ({ adapter, session, path, reason }) =>
      `The adapter ${adapter} reported impossible figures for session ${session} (${path}): ${reason}`,
    fix: ({ adapter }) =>
      `Update ${adapter}, or report it to its author. The messages are stored; the session's tokens and cost are not counted.`,
  },
  INDEXER_FAILED: {
    status: 500,
    why: ({ indexer, session, reason }) => `The indexer ${indexer} failed on session ${session}: ${reason}`,
    fix: ({ indexer }) =>
      `Report it to the author of ${indexer}. Its rows of this session are missing; all else is stored.`,
  },
  BACKUP_ELSEWHERE: {
    status: 422,
    why: ({ driver }) => `Transcripts are kept by the driver ${driver}, not in the data directory`,
    fix: () => "Back that place up by its own means, and copy the data directory beside it.",
  },
  SOURCE_SHARED: { status: 422, why: ({ id, reason }) => `The log of ${id} cannot be deleted: ${reason}` },
  SOURCE_CHANGED: { status: 409, why: ({ id, reason }) => `The log of ${id} was left alone: ${reason}` },
  SOURCE_LEFT: {
    status: 409,
    why: ({ id, path, reason }) => `The log of ${id} was not deleted as a whole: ${path} is still there (${reason})`,
    fix: () => "Check the permissions of its folder and try again; the archive's copy is whole.",
  },
  FOLDER_KNOWN: {
    status: 409,
    why: ({ path, known }) => `${path} is read already: it is part of ${known}`,
  },
  FOLDER_REFUSED: {
    status: 422,
    why: ({ path, reason }) => `${path} cannot be added: ${reason}`,
    fix: () => "Pass the absolute path of a folder with logs of this assistant.",
  },
  FOLDER_UNKNOWN: {
    status: 404,
    why: ({ path, tool }) => `${path} was not added for ${tool}`,
    fix: () => "GET /sources lists the added folders.",
  },
  OTLP_FAILED: {
    status: 502,
    why: ({ url, reason }) => `Usage could not be sent to ${url}: ${reason}`,
    fix: () => "Check that an OpenTelemetry collector receives OTLP over HTTP there, as JSON, then send again.",
  },
  ADAPTER_MISSING: {
    status: 422,
    why: ({ tool }) => `No plugin reads the logs of ${tool}`,
    fix: ({ tool }) => `Load the adapter for ${tool} again.`,
  },
});
