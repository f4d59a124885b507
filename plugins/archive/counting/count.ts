/** Replies of many logs counted once without an archive: by the same identities and claims as an import. */
import type { UsageEntry } from "sessarc";
import { type Book, type Entry, toBook } from "./book.ts";
import { type Claimant, Claims } from "./claims.ts";
import { computeWeight, packReplies } from "./replies.ts";

export class ReplyCount {
  readonly #claims = new Claims();
  readonly #books = new Map<string, Book>();

  /** Takes in the replies of one log. */
  add(log: Claimant, tool: string, replies: readonly UsageEntry[]): void {
    const book = toBook(packReplies(tool, replies));
    if (book.size === 0) return;
    this.#books.set(log.id, book);
    const entries = [...book.values()];
    const held = entries.map(({ hash, tokens }) => ({ hash, weight: computeWeight(tokens) }));
    const { lost, taken } = this.#claims.claim(log, held);
    const lose = (entry: Entry | undefined) => {
      if (entry) entry.lost = true;
    };
    for (const index of lost) lose(entries[index]);
    for (const [id, claims] of taken) {
      const other = this.#books.get(id);
      for (const { index } of claims) lose(other?.get(entries[index]?.hash ?? -1));
    }
  }

  /** Keyed replies of a log; `lost` ones count at another. Final when all logs were taken in. */
  entries(id: string): readonly Entry[] {
    return [...(this.#books.get(id)?.values() ?? [])];
  }
}
