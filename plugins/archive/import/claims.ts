/**
 * Who owns a reply. A fork repeats its parent's replies in its own file; totals count each once, at the session whose log is older
 * (birth of the file, then id). Holds 53-bit hashes in an open-addressing table: 12 bytes a slot, at most 70 % full.
 */
import type { PackedReplies } from "./replies.ts";

export interface Claimant {
  id: string;
  born: number;
}

export interface ClaimResult {
  /** Indexes of replies that an older session owns. */
  inherited: number[];
  /** Replies taken from younger sessions, by their id. */
  taken: Map<string, number[]>;
}

const EMPTY = -1;

export class Claims {
  #keys = new Float64Array(1024).fill(EMPTY);
  #owners = new Int32Array(1024);
  #size = 0;
  #claimants: Claimant[] = [];
  #numbers = new Map<string, number>();

  /** Adds a stored session: whatever it holds and nobody older does is its own. */
  load(session: Claimant, hashes: Float64Array): void {
    const number = this.#number(session);
    for (const hash of hashes) {
      const slot = this.#slot(hash);
      if (this.#keys[slot] === EMPTY) this.#insert(slot, hash, number);
      else if (isOlder(session, this.#ownerAt(slot))) this.#owners[slot] = number;
    }
  }

  /** Settles the replies of a session that was just read. One probe a reply. */
  claim(session: Claimant, replies: PackedReplies): ClaimResult {
    const number = this.#number(session);
    const inherited: number[] = [];
    const taken = new Map<string, number[]>();
    replies.hashes.forEach((hash, i) => {
      const slot = this.#slot(hash);
      if (this.#keys[slot] === EMPTY) {
        this.#insert(slot, hash, number);
        return;
      }
      if (this.#owners[slot] === number) return;
      const owner = this.#ownerAt(slot);
      if (!isOlder(session, owner)) {
        inherited.push(i);
        return;
      }
      this.#owners[slot] = number;
      const list = taken.get(owner.id);
      if (list) list.push(i);
      else taken.set(owner.id, [i]);
    });
    return { inherited, taken };
  }

  #number(session: Claimant): number {
    const known = this.#numbers.get(session.id);
    if (known !== undefined) {
      this.#claimants[known] = session;
      return known;
    }
    this.#numbers.set(session.id, this.#claimants.length);
    return this.#claimants.push({ id: session.id, born: session.born }) - 1;
  }

  #ownerAt(slot: number): Claimant {
    return this.#claimants[this.#owners[slot] as number] as Claimant;
  }

  #slot(hash: number): number {
    const mask = this.#keys.length - 1;
    let slot = (hash ^ (hash / 4294967296)) & mask;
    while (this.#keys[slot] !== EMPTY && this.#keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #insert(slot: number, hash: number, owner: number): void {
    this.#keys[slot] = hash;
    this.#owners[slot] = owner;
    if (++this.#size > this.#keys.length * 0.7) this.#grow();
  }

  #grow(): void {
    const keys = this.#keys;
    const owners = this.#owners;
    this.#keys = new Float64Array(keys.length * 2).fill(EMPTY);
    this.#owners = new Int32Array(keys.length * 2);
    keys.forEach((hash, i) => {
      if (hash === EMPTY) return;
      const slot = this.#slot(hash);
      this.#keys[slot] = hash;
      this.#owners[slot] = owners[i] as number;
    });
  }
}

function isOlder(a: Claimant, b: Claimant): boolean {
  return a.born !== b.born ? a.born < b.born : a.id < b.id;
}
