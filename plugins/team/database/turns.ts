/** Whose turn it is to write for a tenant, within one process. */
import { SessarcError } from "sessarc";

export function createTurns() {
  const lasts = new Map<number, Promise<void>>();
  return {
    /** Resolves with what gives the turn to the next one. Throws TEAM_BUSY after `waitMs`. */
    async take(tenant: number, waitMs: number): Promise<() => void> {
      const before = lasts.get(tenant) ?? Promise.resolve();
      let done = () => {};
      const mine = new Promise<void>((resolve) => {
        done = resolve;
      });
      const next = before.then(() => mine);
      lasts.set(tenant, next);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(true), waitMs);
      });
      const isLate = await Promise.race([before.then(() => false), late]);
      clearTimeout(timer);
      if (isLate) {
        // Those who wait behind go on when the one before ends.
        done();
        throw new SessarcError("TEAM_BUSY", { ms: waitMs });
      }
      return done;
    },
  };
}
