/** `sessarc push --watch`: pushes what changed until the user ends it. */
import { setTimeout as delay } from "node:timers/promises";
import { ApiError, type CommandContext, printable, send } from "sessarc/terminal";
import { pauseAfter } from "../pauses.ts";
import { type Pushed, print, pushOnce } from "./_push.ts";

const WATCH_MS = 60_000;

/** Throws what waiting does not change: no team, no chosen project, no access. */
export async function watch(ctx: CommandContext, body: object): Promise<void> {
  ctx.err("Pushes every minute what changed; Ctrl-C ends it.");
  let known = new Set<string>();
  let failures = 0;
  for (let first = true; ; first = false) {
    const { pushed, errors } = await pushChanges(ctx, body);
    if (ctx.signal.aborted) return;
    // A problem is reported when it begins, not in every round.
    const problems = new Set([...errors.keys(), ...(pushed?.done.failed ?? []).map(({ id, code }) => `${id} ${code}`)]);
    const isNew = [...problems].some((kind) => !known.has(kind));
    if (pushed && (first || isNew || pushed.done.pushed > 0)) print(ctx, pushed);
    for (const [kind, text] of errors) if (!known.has(kind)) ctx.err(printable(text));
    if (isNew) ctx.err("It is tried again, after longer and longer pauses up to 15 minutes.");
    else if (problems.size === 0 && known.size > 0) ctx.err("Pushing works again.");
    failures = problems.size > 0 ? failures + 1 : 0;
    known = problems;
    // Other commands use the archive meanwhile, and the service may start or end.
    await ctx.release();
    await delay(pauseAfter(failures, WATCH_MS), undefined, { signal: ctx.signal }).catch((error: unknown) => {
      if (!ctx.signal.aborted) throw error;
    });
    if (ctx.signal.aborted) return;
  }
}

interface Round {
  pushed: Pushed | undefined;
  /** What failed, by kind. */
  errors: Map<string, string>;
}

/** A log that cannot be imported does not keep back what the archive has. */
async function pushChanges(ctx: CommandContext, body: object): Promise<Round> {
  const errors = new Map<string, string>();
  const failed = (error: unknown) => {
    const { kind, text } = toProblem(error);
    errors.set(kind, text);
    return undefined;
  };
  await send(ctx, "POST", "/sync?wait=1", {}, ctx.signal).catch(failed);
  const pushed = await pushOnce(ctx, body).catch((error: unknown) => {
    if (needsUser(error)) throw error;
    return failed(error);
  });
  return { pushed, errors };
}

function toProblem(error: unknown): { kind: string; text: string } {
  if (error instanceof ApiError) return { kind: error.code, text: error.message };
  return error instanceof Error ? { kind: error.name, text: error.message } : { kind: "unknown", text: String(error) };
}

/** TEAM_REFUSED is also what a server answers that is busy or being repaired. */
const needsUser = (error: unknown): boolean =>
  error instanceof ApiError && error.status < 500 && error.code !== "TEAM_REFUSED";
