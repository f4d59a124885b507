/**
 * Two copies of one session that went on apart: the tables of version 1 and 2, or a channel's copy of the database. The copy with more
 * messages is the conversation; what only another has is put in by its time. Pure.
 */

/** A message as far as copies are compared. Its id decides nothing alone: the move from one version to the other may make new ones. */
export interface Said {
  id: string;
  role: string;
  /** When it was created, ms. */
  at: number | undefined;
  text: string;
  /** How much it holds: characters and tokens. A reply may have been copied while it was being written. */
  weight: number;
}

/** The messages of all copies, each once, in order. Of two that are equal the one of the earlier copy is taken. */
export function mergeCopies<T extends Said>(copies: readonly (readonly T[])[]): T[] {
  const [base = [], ...others] = [...copies].sort((a, b) => b.length - a.length || computeWeight(b) - computeWeight(a));
  const places = new Map(copies.flatMap((copy, place) => copy.map((said) => [said, place] as const)));
  const isBetter = (one: T, other: T) =>
    one.weight > other.weight || (one.weight === other.weight && (places.get(one) ?? 0) < (places.get(other) ?? 0));
  let merged = [...base];
  for (const other of others) {
    const same = samePairs(merged, other);
    const more: T[] = [];
    for (const said of other) {
      const at = same.get(said);
      const known = at === undefined ? undefined : merged[at];
      if (at === undefined) more.push(said);
      else if (known && isBetter(said, known)) merged[at] = said;
    }
    merged = insert(
      merged,
      more.filter(({ weight }) => weight > 0),
    );
  }
  return merged;
}

const computeWeight = (copy: readonly Said[]) => copy.reduce((sum, { weight }) => sum + weight, 0);

/** For messages of `other` that `known` has as well, their places there. Each message is the copy of one at most. */
function samePairs<T extends Said>(known: readonly T[], other: readonly T[]): Map<T, number> {
  const pairs = new Map<T, number>();
  const taken = new Set<number>();
  // Where the times of a role's messages were kept, a text that is said again at another time is another message.
  const timed = new Set<string>();
  const rules: ((said: T) => string | undefined)[] = [
    ({ id, role, at }) => (at === undefined ? undefined : `${role} ${at} ${id}`),
    ({ role, at }) => (at === undefined ? undefined : `${role} ${at}`),
    ({ role, text }) => (text === "" || timed.has(role) ? undefined : `${role} ${text}`),
  ];
  for (const rule of rules) {
    const places = new Map<string, number[]>();
    for (const [place, said] of known.entries()) {
      const name = taken.has(place) ? undefined : rule(said);
      if (name !== undefined) places.set(name, [...(places.get(name) ?? []), place]);
    }
    for (const said of other) {
      const name = pairs.has(said) ? undefined : rule(said);
      const place = name === undefined ? undefined : places.get(name)?.shift();
      if (place === undefined) continue;
      pairs.set(said, place);
      taken.add(place);
    }
    for (const { role } of pairs.keys()) timed.add(role);
  }
  // The same id with a text that goes on is the same message; with another text it is another.
  const ids = new Map(known.flatMap((said, place) => (taken.has(place) ? [] : [[said.id, place] as const])));
  for (const said of other) {
    const place = pairs.has(said) ? undefined : ids.get(said.id);
    const one = place === undefined ? undefined : known[place];
    if (place === undefined || one?.role !== said.role) continue;
    if (one.text.startsWith(said.text) || said.text.startsWith(one.text)) pairs.set(said, place);
  }
  return pairs;
}

/** Each behind the last one that is not later. */
function insert<T extends Said>(into: readonly T[], more: readonly T[]): T[] {
  const merged = [...into];
  for (const said of more) {
    const { at } = said;
    const before =
      at === undefined ? merged.length - 1 : merged.findLastIndex((one) => one.at === undefined || one.at <= at);
    merged.splice(before + 1, 0, said);
  }
  return merged;
}
