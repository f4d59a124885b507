/** Replies of one log with their tokens, read again when they are asked for. */

import { isSessarcError, type Kernel, type SessionRef, type UsageEntry } from "sessarc";
import { type Adapter, isUnreadable } from "sessarc/adapter";

/** One pass over the log, of the lines with tokens alone where the adapter can. Undefined when the log cannot be read. */
export async function findReplies(
  adapter: Adapter,
  ref: SessionRef,
  { env }: Kernel,
): Promise<readonly UsageEntry[] | undefined> {
  try {
    const known = await adapter.usage?.(ref, env);
    if (known) return known.replies ?? [];
    const events = adapter.read(ref, env);
    for (;;) {
      const step = await events.next();
      if (step.done) return step.value.replies ?? [];
    }
  } catch (error) {
    // Gone or locked since it was imported: said in the answer.
    if (isUnreadable(error) || isSessarcError(error)) return undefined;
    throw error;
  }
}
