/** SessarcErrors on their way out of a worker: structured clone keeps only the standard fields of an error, and data as its cause. */
import { ERRORS, type ErrorCode, isSessarcError, SessarcError } from "../errors/error.ts";
import { isRecord } from "../utils/json.ts";

type Carried = Pick<SessarcError, "code" | "params" | "issues">;

/** In the worker: what is to be thrown instead. Others are carried as they are. */
export function toCarried(error: unknown): unknown {
  if (!isSessarcError(error)) return error;
  const { code, params, issues } = error;
  const carrier = new Error(error.message, { cause: { code, params, issues } satisfies Carried });
  carrier.stack = error.stack ?? error.message;
  return carrier;
}

/** Where it arrives: the error that was thrown there, with what it said as its cause. */
export function fromCarried(error: unknown): unknown {
  if (!(error instanceof Error) || !isCarried(error.cause)) return error;
  const { code, params, issues } = error.cause;
  return new SessarcError(code, params, { cause: error, issues });
}

const isCarried = (cause: unknown): cause is Carried =>
  isRecord(cause) && typeof cause.code === "string" && isCode(cause.code) && isRecord(cause.params);

const isCode = (code: string): code is ErrorCode => Object.hasOwn(ERRORS, code);
