/** Asks again, every two seconds, for as long as the service does not answer at all. */
import { useTimeoutFn } from "@vueuse/core";
import { ApiError } from "../client.ts";

const PAUSE_MS = 2_000;

export function useAgain(run: () => unknown): (error: unknown) => void {
  const { start, stop } = useTimeoutFn(run, PAUSE_MS, { immediate: false });
  return (error) => {
    if (error instanceof ApiError && error.status === 0) start();
    else stop();
  };
}
