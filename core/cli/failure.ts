/** What went wrong, on stderr and as an exit code. */
import { type ErrorBody, isSessarcError } from "../errors/error.ts";
import { systemReason } from "../errors/system.ts";
import { UnreachableError } from "../serve/client.ts";
import { ApiError, UsageError } from "../terminal/errors.ts";
import { createStyle, printable, wantsColour, wrapColumns } from "../terminal/style.ts";
import { debugError } from "../utils/debug.ts";
import { UnknownCommandError } from "./args.ts";
import type { CliIo } from "./io.ts";

export const EXIT = { ok: 0, failed: 1, usage: 2, nothing: 3, unreachable: 4 } as const;

const HELP = "      `sessarc --help` lists the commands.";

/** Prints the error of the command and returns the exit code. Stacks are shown by `--debug` alone. */
export function reportFailure(error: unknown, io: CliIo, command?: string): number {
  if (io.argv.includes("--json")) {
    io.stderr.write(`${JSON.stringify(toBody(error))}\n`);
    debugError("cli", "failed", error);
    return codeOf(error);
  }
  const style = createStyle(wantsColour(io.env.env, io.stderr.isTTY === true));
  const width = io.stderr.isTTY === true ? io.stderr.columns : undefined;
  const wrap = (text: string) => (width ? wrapColumns(text, width, "      ") : [text]);
  const say = (text: string) => io.stderr.write(`${text}\n`);
  const [first = "", ...others] = wrap(`error ${printable(toFlags(toSentence(error)))}`);
  say(`${style.red("error")}${first.slice("error".length)}`);
  for (const line of others) say(line);
  debugError("cli", "failed", error);
  if (error instanceof UsageError) {
    const known = command !== undefined && !(error instanceof UnknownCommandError);
    say(style.dim(known ? `      \`sessarc ${printable(command)} --help\` shows its usage.` : HELP));
  } else if (findFix(error) !== undefined) {
    const fix = withoutRoutes(findFix(error) ?? "");
    if (fix !== "") for (const line of wrap(`      ${printable(fix)}`)) say(line);
  } else if (!isExpected(error))
    say(style.dim("      Most likely a bug: the same command with --debug shows where, for a report."));
  return codeOf(error);
}

const ROUTE = /\b(?:GET|POST|PUT|PATCH|DELETE) \//;

/** A remedy for a terminal: routes in parentheses are left out, and sentences that name only a route. */
const withoutRoutes = (fix: string): string =>
  fix
    .replace(/ \((?:GET|POST|PUT|PATCH|DELETE) \/[^)]*\)/g, "")
    .split(/(?<=\.)\s+/)
    .filter((sentence) => !ROUTE.test(sentence))
    .join(" ");

/** `query.limit: must be …`: the query is made of flags. */
const toFlags = (message: string): string => message.replace(/^query\.([a-z]+): (?:Invalid \w+: )?/, "--$1 ");

const isExpected = (error: unknown): boolean =>
  error instanceof ApiError || isSessarcError(error) || systemReason(error) !== undefined;

function findFix(error: unknown): string | undefined {
  if (error instanceof UnreachableError) return "Stop that process, or start it again with `sessarc`.";
  return error instanceof ApiError || isSessarcError(error) ? (error.fix ?? undefined) : undefined;
}

/** With `--json` a failure is one line, the object that the HTTP API answers. */
function toBody(error: unknown): ErrorBody {
  const [status, code] =
    error instanceof UsageError
      ? [400, "USAGE"]
      : error instanceof UnreachableError
        ? [503, "UNREACHABLE"]
        : error instanceof ApiError || isSessarcError(error)
          ? [error.status, error.code]
          : [500, "FAILED"];
  const fix = findFix(error);
  return { status, code, message: toSentence(error), ...(fix !== undefined && { fix }) };
}

function codeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage;
  if (error instanceof ApiError || isSessarcError(error)) return toExit(error);
  return error instanceof UnreachableError ? EXIT.unreachable : EXIT.failed;
}

/** Values that are refused before anything is asked. */
const WRONG_VALUES = ["CONFIG_INVALID", "CONFIG_UNKNOWN_KEY", "CONFIG_UNREADABLE", "HOST_UNUSABLE"];

function toExit({ status, code }: { status: number; code: string }): number {
  if (code === "ARCHIVE_LOCKED") return EXIT.unreachable;
  if (status === 400 || WRONG_VALUES.includes(code)) return EXIT.usage;
  return status === 404 ? EXIT.nothing : EXIT.failed;
}

/** `/somewhere/file: the disk is full` instead of the system's own words. */
function toSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const reason = systemReason(error);
  if (reason === undefined || isSessarcError(error)) return error.message;
  const place = "dest" in error ? error.dest : "path" in error ? error.path : undefined;
  return typeof place === "string" ? `${place}: ${reason}` : error.message;
}
