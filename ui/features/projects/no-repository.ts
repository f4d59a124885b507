import { ApiError } from "../../client.ts";

/** Whether a request failed because the project has no repository: no error to retry. */
export const isWithoutRepository = (error: unknown): boolean =>
  error instanceof ApiError && error.code === "NO_REPOSITORY";
