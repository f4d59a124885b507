/** What a command throws when it was called wrongly, or when the API refused. */
import type { ErrorBody } from "../errors/error.ts";

/** Wrong usage: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** What the API refused, with its own words. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly fix: string | undefined;

  constructor(body: ErrorBody) {
    super(body.message);
    this.status = body.status;
    this.code = body.code;
    this.fix = body.fix;
  }
}
