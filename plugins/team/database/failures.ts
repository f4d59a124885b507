/** PostgreSQL's errors as those of sessarc. */

import { SessarcError } from "sessarc";
import { oneLine } from "sessarc/terminal";
import { codeOf } from "./install.ts";

/** Codes of a server that is starting, stopping or gone, or of a connection that ended. */
const GONE = /^(?:08...|57P0[123]|53300|ECONN\w+|EPIPE|ENOENT|ETIMEDOUT)$/;

/** Throws what callers of a catalogue expect. `text`: the statement that ran, for the person who reads the log. */
export const failed =
  (sql: string, text: string) =>
  (cause: unknown): never => {
    const code = codeOf(cause);
    const reason = cause instanceof Error ? cause.message : String(cause);
    if (code === "53100") throw new SessarcError("STORAGE_FULL", {}, { cause });
    if ((code === "42501" && !/row-level security/.test(reason)) || code === "25006")
      throw new SessarcError("STORAGE_READ_ONLY", {}, { cause });
    if ((code !== undefined && GONE.test(code)) || /Connection terminated|connection timeout/i.test(reason))
      throw new SessarcError("TEAM_DATABASE_UNREACHABLE", { reason }, { cause });
    if (code === undefined) throw cause;
    const line = oneLine(sql);
    const shown = line.length > 300 ? `${line.slice(0, 300)}…` : line;
    throw new Error(
      `${reason} (${code}, in: ${shown}${text === "" || text === sql ? "" : `; sent as: ${text.slice(0, 2_000)}`})`,
      { cause },
    );
  };
