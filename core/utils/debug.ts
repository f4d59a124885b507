/** Debug output: `DEBUG=sessarc:*`, which `--debug` sets. Workers inherit it. */

import { printable } from "./printable.ts";

/** Whether `DEBUG` names `sessarc:<scope>`; `*` matches anything. */
function isDebug(scope: string): boolean {
  const names = (process.env.DEBUG ?? "").split(/[\s,]+/);
  return names.some((name) => name === "*" || name === "sessarc:*" || name === `sessarc:${scope}`);
}

/** What `--debug` does, for this process and the workers it starts from now on. */
export function enableDebug(): void {
  process.env.DEBUG = [process.env.DEBUG, "sessarc:*"].filter(Boolean).join(",");
}

/** Writes `error` with its stack, and those of its causes, to stderr. */
export function debugError(scope: string, what: string, error: unknown): void {
  if (isDebug(scope)) process.stderr.write(printable(`sessarc:${scope} ${what}\n${toStacks(error)}\n`));
}

function toStacks(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? error.message;
  return error.cause === undefined ? own : `${own}\nCaused by ${toStacks(error.cause)}`;
}
