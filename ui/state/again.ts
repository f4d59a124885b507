/** Asks again, every two seconds, for as long as the service does not answer at all. */
import { onScopeDispose } from "vue";
import { ApiError } from "../client.ts";

const PAUSE_MS = 2_000;

export function useAgain(run: () => unknown): (error: unknown) => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  onScopeDispose(() => clearTimeout(timer));
  return (error) => {
    clearTimeout(timer);
    if (error instanceof ApiError && error.status === 0) timer = setTimeout(run, PAUSE_MS);
  };
}
