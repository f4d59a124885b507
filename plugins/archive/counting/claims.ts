/**
 * Who owns a reply. A fork repeats its parent's replies in its own file; totals count each once: at the session that holds the most of
 * it, of equal ones at that whose log is older (birth of the file, then id). What comes out does not depend on the order in which
 * sessions, or stretches of one, are taken in. Where sessions have different readers, a reply counts for each of them: see `Audience`. Holds 53-bit hashes in an open-addressing table: 20 bytes a slot, at most 70 % full.
 */

/**
 * Who reads a session, where not all sessions have the same readers. Of copies for different audiences the one of the lower rank counts, which the
 * readers of the others have, too. Copies of one rank for different audiences count for each: neither is to show that the other exists.
 */
export interface Audience {
  space: number;
  rank: number;
}

export interface Claimant {
  id: string;
  born: number;
  audience?: Audience | undefined;
}

export interface Claim {
  /** Index in the list that was claimed. */
  index: number;
  /** Of the copy that counted until now. */
  weight: number;
}

interface ClaimResult {
  /** Indexes of replies that another session owns. */
  lost: number[];
  /** Replies taken from other sessions, by their id. */
  taken: Map<string, Claim[]>;
}

/** A reply by its hash, with the weight of the session's copy. */
export interface Held {
  hash: number;
  weight: number;
}

const EMPTY = -1;

export class Claims {
  #keys = new Float64Array(1024).fill(EMPTY);
  #owners = new Int32Array(1024);
  #weights = new Float64Array(1024);
  #size = 0;
  #claimants: Claimant[] = [];
  /** Of replies that several sessions have: which. */
  readonly #sharers = new Map<number, Set<number>>();
  #numbers = new Map<string, number>();
  /** Of replies that count for several audiences: further owners, with the weights of their copies. */
  readonly #others = new Map<number, Map<number, number>>();

  /**
   * Settles replies of a session: new ones, those it owns and that grew, those it lost before. One probe a reply. `session.born` of one
   * that is known may only fall.
   */
  claim(session: Claimant, replies: Iterable<Held>): ClaimResult {
    const number = this.#number(session);
    const result: ClaimResult = { lost: [], taken: new Map() };
    let index = -1;
    for (const { hash, weight } of replies) {
      index++;
      const slot = this.#slot(hash);
      if (this.#keys[slot] === EMPTY) this.#insert(slot, hash, number, weight);
      else if (this.#owners[slot] === number) this.#weights[slot] = weight;
      else if (this.#others.get(hash)?.has(number)) this.#others.get(hash)?.set(number, weight);
      else {
        this.#share(hash, number, slot);
        const beaten = this.#beaten(session, weight, slot);
        if (!beaten) {
          result.lost.push(index);
          continue;
        }
        for (const [owner, held] of beaten) {
          const { id } = this.#claimants[owner] as Claimant;
          const list = result.taken.get(id) ?? [];
          result.taken.set(id, list);
          list.push({ index, weight: held });
          this.#others.get(hash)?.delete(owner);
        }
        if (beaten.has(this.#owners[slot] as number)) this.#own(slot, number, weight);
        else this.#others.set(hash, (this.#others.get(hash) ?? new Map<number, number>()).set(number, weight));
      }
    }
    return result;
  }

  /** The sessions that have a reply which more than one has; none else. */
  sharersOf(hash: number): Claimant[] {
    return Array.from(this.#sharers.get(hash) ?? [], (number) => this.#claimants[number] as Claimant);
  }

  #share(hash: number, number: number, slot: number): void {
    const sharers = this.#sharers.get(hash);
    if (sharers) sharers.add(number);
    else this.#sharers.set(hash, new Set([this.#owners[slot] as number, number]));
  }

  /** The owners that lose to a copy, with the weights of theirs; undefined where the copy loses to one of them. */
  #beaten(session: Claimant, weight: number, slot: number): Map<number, number> | undefined {
    const beaten = new Map<number, number>();
    const first = [this.#owners[slot] as number, this.#weights[slot] as number] as const;
    for (const [number, held] of [first, ...(this.#others.get(this.#keys[slot] as number) ?? [])]) {
      const owner = this.#claimants[number] as Claimant;
      const order = findOrder(session, owner);
      if (order === undefined) continue;
      const wins = order === 0 ? (weight !== held ? weight > held : isOlder(session, owner)) : order < 0;
      if (!wins) return undefined;
      beaten.set(number, held);
    }
    return beaten;
  }

  #own(slot: number, number: number, weight: number): void {
    this.#owners[slot] = number;
    this.#weights[slot] = weight;
  }

  #number(session: Claimant): number {
    const known = this.#numbers.get(session.id);
    if (known !== undefined) {
      this.#claimants[known] = session;
      return known;
    }
    this.#numbers.set(session.id, this.#claimants.length);
    return this.#claimants.push({ ...session }) - 1;
  }

  #slot(hash: number): number {
    const mask = this.#keys.length - 1;
    let slot = (hash ^ (hash / 4294967296)) & mask;
    while (this.#keys[slot] !== EMPTY && this.#keys[slot] !== hash) slot = (slot + 1) & mask;
    return slot;
  }

  #insert(slot: number, hash: number, owner: number, weight: number): void {
    this.#keys[slot] = hash;
    this.#own(slot, owner, weight);
    if (++this.#size > this.#keys.length * 0.7) this.#grow();
  }

  #grow(): void {
    const keys = this.#keys;
    const owners = this.#owners;
    const weights = this.#weights;
    this.#keys = new Float64Array(keys.length * 2).fill(EMPTY);
    this.#owners = new Int32Array(keys.length * 2);
    this.#weights = new Float64Array(keys.length * 2);
    keys.forEach((hash, i) => {
      if (hash === EMPTY) return;
      const slot = this.#slot(hash);
      this.#keys[slot] = hash;
      this.#own(slot, owners[i] as number, weights[i] as number);
    });
  }
}

/** Below 0: the first one's audience decides; 0: weight and age do; undefined: both count. */
function findOrder({ audience: a }: Claimant, { audience: b }: Claimant): number | undefined {
  if (!a || !b || a.space === b.space) return 0;
  return a.rank === b.rank ? undefined : a.rank - b.rank;
}

/** The older log of two. */
export function isOlder(a: Claimant, b: Claimant): boolean {
  return a.born !== b.born ? a.born < b.born : a.id < b.id;
}
