/** Bytes that one sandbox may hold: its files, what was replaced in them, its home. */
import { SessarcError } from "sessarc";
import { readSize } from "./sandbox.ts";

export interface Budget {
  bytes: number;
  /** Counts the bytes on disk; reads the entry of every file. */
  used(): Promise<number>;
  /** Says what a fresh sandbox holds. */
  begin(bytes: number): void;
  /** Throws REPLAY_TOO_LARGE when so many more bytes do not fit. Counts the bytes on disk once, then adds up. */
  spend(more: number): Promise<void>;
}

export function createBudgets(bytes: number): (place: string) => Budget {
  /** What is known of each place. Never less than what is there: every count on disk replaces the sum. */
  const known = new Map<string, number>();
  return (place) => {
    const used = async () => {
      const size = await readSize(place);
      known.set(place, size);
      return size;
    };
    return {
      bytes,
      used,
      begin: (size) => void known.set(place, size),
      async spend(more) {
        const sum = (known.get(place) ?? (await used())) + more;
        if (sum > bytes && (await used()) + more > bytes) throw new SessarcError("REPLAY_TOO_LARGE", { limit: bytes });
        known.set(place, (known.get(place) ?? 0) + more);
      },
    };
  };
}
