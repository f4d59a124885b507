/**
 * Who owns a reply. A fork repeats its parent's replies in its own file; totals count each once, at the session whose log is older
 * (birth of the file, then id). A copy made while a reply was still being written holds less of it: the copy with the larger output
 * counts, whoever has it. Holds 53-bit hashes in an open-addressing table: 20 bytes a slot, at most 70 % full.
 */
import { outputOf, type PackedReplies } from "./replies.ts";

export interface Claimant {
  id: string;
  born: number;
}

export interface ClaimResult {
  /** Indexes of replies that an older session owns. */
  inherited: number[];
  /** Replies taken from other sessions, by their id, with the output tokens counted there until now. */
  taken: Map<string, { index: number; output: number }[]>;
}

const EMPTY = -1;

export class Claims {
  #keys = new Float64Array(1024).fill(EMPTY);
  #owners = new Int32Array(1024);
  #outputs = new Float64Array(1024);
  #size = 0;
  #claimants: Claimant[] = [];
  #numbers = new Map<string, number>();

  /** Adds a stored session, given as pairs of hash and output tokens. */
  load(session: Claimant, pairs: Float64Array): void {
    const number = this.#number(session);
    for (let i = 0; i < pairs.length; i += 2) {
      const [hash, output] = [pairs[i] as number, pairs[i + 1] as number];
      const slot = this.#slot(hash);
      if (this.#keys[slot] === EMPTY) this.#insert(slot, hash, number, output);
      else if (this.#owners[slot] === number) this.#outputs[slot] = output;
      else if (this.#beats(session, output, slot)) this.#own(slot, number, output);
    }
  }

  /** Settles the replies of a session that was just read. One probe a reply. */
  claim(session: Claimant, replies: PackedReplies): ClaimResult {
    const number = this.#number(session);
    const inherited: number[] = [];
    const taken: ClaimResult["taken"] = new Map();
    replies.hashes.forEach((hash, index) => {
      const output = outputOf(replies, index);
      const slot = this.#slot(hash);
      if (this.#keys[slot] === EMPTY) this.#insert(slot, hash, number, output);
      else if (this.#owners[slot] === number) this.#outputs[slot] = output;
      else if (this.#beats(session, output, slot)) {
        const owner = this.#ownerAt(slot).id;
        const list = taken.get(owner) ?? [];
        taken.set(owner, list);
        list.push({ index, output: this.#outputs[slot] as number });
        this.#own(slot, number, output);
      } else inherited.push(index);
    });
    return { inherited, taken };
  }

  #beats(session: Claimant, output: number, slot: number): boolean {
    const other = this.#outputs[slot] as number;
    return output !== other ? output > other : isOlder(session, this.#ownerAt(slot));
  }

  #own(slot: number, number: number, output: number): void {
    this.#owners[slot] = number;
    this.#outputs[slot] = output;
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

  #insert(slot: number, hash: number, owner: number, output: number): void {
    this.#keys[slot] = hash;
    this.#own(slot, owner, output);
    if (++this.#size > this.#keys.length * 0.7) this.#grow();
  }

  #grow(): void {
    const keys = this.#keys;
    const owners = this.#owners;
    const outputs = this.#outputs;
    this.#keys = new Float64Array(keys.length * 2).fill(EMPTY);
    this.#owners = new Int32Array(keys.length * 2);
    this.#outputs = new Float64Array(keys.length * 2);
    keys.forEach((hash, i) => {
      if (hash === EMPTY) return;
      const slot = this.#slot(hash);
      this.#keys[slot] = hash;
      this.#own(slot, owners[i] as number, outputs[i] as number);
    });
  }
}

function isOlder(a: Claimant, b: Claimant): boolean {
  return a.born !== b.born ? a.born < b.born : a.id < b.id;
}
