/** What went wrong, on stderr and as an exit code. */
import { isSessarcError } from "../errors/error.ts";
import { systemReason } from "../errors/system.ts";
import { UnreachableError } from "../serve/client.ts";
import { ApiError, UsageError } from "../terminal/errors.ts";
import { createStyle, printable, wantsColour } from "../terminal/style.ts";
import { debugError } from "../utils/debug.ts";
import type { CliIo } from "./io.ts";

export const EXIT = { ok: 0, failed: 1, usage: 2, nothing: 3, unreachable: 4 } as const;

/** Says it and answers the exit code. Only what nobody foresaw shows where it happened. */
export function reportFailure(error: unknown, io: CliIo): number {
  const style = createStyle(wantsColour(io.env.env, io.stderr.isTTY === true));
  const say = (text: string) => io.stderr.write(`${text}\n`);
  say(`${style.red("error")} ${printable(sentenceOf(error))}`);
  debugError("cli", "failed", error);
  if (error instanceof UsageError) {
    say(style.dim("`sessarc --help` lists the commands, `sessarc <command> --help` their flags."));
    return EXIT.usage;
  }
  if (error instanceof ApiError || isSessarcError(error)) {
    if (error.fix) say(`      ${printable(error.fix)}`);
    return exitOf(error);
  }
  if (error instanceof UnreachableError) {
    say("      Stop that process, or start it again with `sessarc`.");
    return EXIT.unreachable;
  }
  if (systemReason(error) !== undefined) return EXIT.failed;
  // Our own fault, most likely: the place helps whoever reports it.
  if (error instanceof Error && error.stack) say(style.dim(error.stack.split("\n").slice(1, 6).join("\n")));
  return EXIT.failed;
}

/** Values that are refused before anything is asked. */
const WRONG_VALUES = ["CONFIG_INVALID", "CONFIG_UNKNOWN_KEY", "CONFIG_UNREADABLE", "HOST_UNUSABLE"];

function exitOf({ status, code }: { status: number; code: string }): number {
  if (code === "ARCHIVE_LOCKED") return EXIT.unreachable;
  if (status === 400 || WRONG_VALUES.includes(code)) return EXIT.usage;
  return status === 404 ? EXIT.nothing : EXIT.failed;
}

/** `/somewhere/file: the disk is full` instead of the system's own words. */
function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = systemReason(error);
  if (reason === undefined || isSessarcError(error)) return error.message;
  const place = "dest" in error ? error.dest : "path" in error ? error.path : undefined;
  return typeof place === "string" ? `${place}: ${reason}` : error.message;
}
