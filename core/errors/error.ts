/** Errors with a code, a sentence and a remedy; one class, one wire shape. */
import { CORE_ERRORS, type ErrorSpec } from "./codes.ts";
import type { ErrorParams } from "./params.ts";

export type { ErrorCatalogue, ErrorSpec } from "./codes.ts";
export type { ErrorParams, Nothing } from "./params.ts";

/** A code of the catalogue: those of core and those that plugins add with `defineErrors`. */
export type ErrorCode = keyof ErrorParams & string;

/** One thing wrong with the input: `path` is dotted (`query.days`), empty for the whole. */
export interface ErrorIssue {
  path: string;
  message: string;
}

/** What every failing answer carries, on every mount except HTML pages. */
export interface ErrorBody {
  status: number;
  code: string;
  message: string;
  fix?: string;
  issues?: ErrorIssue[];
  /** Only with 5xx: the service's log has the same id beside the cause. */
  errorId?: string;
}

/** Every known code with its row: the kernel's own and those plugins defined. Read only. */
export const ERRORS: Readonly<Record<string, ErrorSpec<never>>> = Object.assign(Object.create(null), CORE_ERRORS);

/**
 * Adds a plugin's codes to the catalogue. Doing it twice with the same rows is fine (a module loaded twice);
 * a code that exists with another status is an error.
 */
export function defineErrors<C extends ErrorCode>(rows: { [K in C]: ErrorSpec<ErrorParams[K]> }): void {
  const catalogue = ERRORS as Record<string, ErrorSpec<never>>;
  for (const [code, row] of Object.entries<ErrorSpec<never>>(rows)) {
    const known = catalogue[code];
    if (known && (known.status !== row.status || code in CORE_ERRORS)) {
      throw new TypeError(`The error code ${code} is defined twice`);
    }
    catalogue[code] = row;
  }
}

/** The one error class. `status`, `message` and `fix` come from the catalogue's row of `code`. */
export class SessarcError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = "SessarcError";
  readonly code: C;
  readonly status: number;
  readonly fix: string | undefined;
  readonly params: ErrorParams[C];
  readonly issues: readonly ErrorIssue[] | undefined;

  constructor(
    code: C,
    params: ErrorParams[C],
    options: { cause?: unknown; issues?: readonly ErrorIssue[] | undefined } = {},
  ) {
    const row = ERRORS[code] as ErrorSpec<ErrorParams[C]> | undefined;
    super(row ? row.why(params) : code, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = row?.status ?? 500;
    this.fix = row?.fix?.(params);
    this.params = params;
    this.issues = options.issues;
  }
}

/** By name and shape, not by constructor: survives two copies of the package and a trip through a worker. */
export function isSessarcError(error: unknown): error is SessarcError {
  return error instanceof Error && error.name === "SessarcError" && "code" in error && "status" in error;
}

/** The wire shape. A full disk becomes DISK_FULL wherever it occurred; any other error that is not a SessarcError becomes INTERNAL, without its text. */
export function toErrorBody(error: unknown, errorId = ""): ErrorBody {
  const known = isSessarcError(error)
    ? error
    : isDiskFull(error)
      ? new SessarcError("STORAGE_FULL", {})
      : new SessarcError("INTERNAL", { errorId });
  return {
    status: known.status,
    code: known.code,
    message: known.message,
    ...(known.fix ? { fix: known.fix } : {}),
    ...(known.issues?.length ? { issues: [...known.issues] } : {}),
    ...(known.status >= 500 && errorId ? { errorId } : {}),
  };
}

const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && "code" in error && (error.code === "ENOSPC" || error.code === "EDQUOT");

/** One line about something that everything else works without: what it is, and what to do. */
export function leftOut({ message, fix }: { message: string; fix?: string | null | undefined }): string {
  return `Left out: ${/[.!?]$/.test(message) || !fix ? message : `${message}.`}${fix ? ` ${fix}` : ""}`;
}

/** INVALID_INPUT (400), with where to take a cursor from. */
export function invalidCursor(): SessarcError {
  return new SessarcError(
    "INVALID_INPUT",
    { reason: "The cursor is not one this service gave" },
    { issues: [{ path: "cursor", message: "take nextCursor of the last answer to the same question" }] },
  );
}
