/** Whether the data directory is still ours to write: asked around every write, and remembered once it is not. */
import { isSessarcError } from "../errors/error.ts";

interface Ownership {
  /** Why it is lost; undefined as long as it is not. */
  readonly lost: unknown;
  /** Throws when it is lost, or cannot be verified right now. */
  prove(): Promise<void>;
}

const LOSSES: ReadonlySet<string> = new Set(["ARCHIVE_LOCKED", "STORAGE_REPLACED"]);

/** `check` throws ARCHIVE_LOCKED or STORAGE_REPLACED when it is lost for good; `tell` hears so once. */
export function createOwnership(check: () => Promise<void>, tell: (message: string) => void): Ownership {
  let lost: unknown;
  return {
    get lost() {
      return lost;
    },
    async prove() {
      if (lost) throw lost;
      try {
        await check();
      } catch (error) {
        if (!lost && isSessarcError(error) && LOSSES.has(error.code)) {
          lost = error;
          tell(`${error.message}. Nothing is written any more; what is on disk is still read`);
        }
        throw error;
      }
    },
  };
}
