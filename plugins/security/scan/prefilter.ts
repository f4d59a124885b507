/**
 * Keyword prefilter: one pass over the text finds every occurrence of every keyword (Aho-Corasick, ASCII case folded).
 * The automaton is one dense table, states with output numbered last, so that the loop is two loads and a compare for
 * each UTF-16 unit.
 */
export interface Prefilter {
  /** Calls `onHit(keyword index, start)` for each occurrence that ends in [from, to); answers the state to resume with. */
  run(text: string, from: number, to: number, state: number, onHit: (keyword: number, start: number) => void): number;
  readonly states: number;
}

const SHIFT = 6;
const WIDTH = 1 << SHIFT;

/** At most 63 distinct (folded) characters and 65,535 states; throws a RangeError beyond. Keywords are ASCII. */
export function createPrefilter(keywords: readonly string[]): Prefilter {
  const classes = new Uint8Array(65_536);
  let used = 0;
  const words = keywords.map((word) => word.toLowerCase());
  for (const char of new Set(words.join(""))) {
    if (++used >= WIDTH) throw new RangeError("Keywords hold too many different characters");
    classes[char.charCodeAt(0)] = used;
    classes[char.toUpperCase().charCodeAt(0)] = used;
  }

  const tree: Int32Array[] = [new Int32Array(WIDTH).fill(-1)];
  const own: number[][] = [[]];
  words.forEach((word, index) => {
    let state = 0;
    for (let i = 0; i < word.length; i++) {
      const row = tree[state] ?? new Int32Array(0);
      const symbol = classes[word.charCodeAt(i)] ?? 0;
      let next = row[symbol] ?? -1;
      if (next < 0) {
        next = tree.length;
        row[symbol] = next;
        tree.push(new Int32Array(WIDTH).fill(-1));
        own.push([]);
      }
      state = next;
    }
    own[state]?.push(index);
  });
  if (tree.length > 65_535) throw new RangeError("Too many keywords");

  const outputs = close(tree, own);
  const order = [...tree.keys()].sort(
    (a, b) => Math.sign(outputs[a]?.length ?? 0) - Math.sign(outputs[b]?.length ?? 0),
  );
  const rank = new Uint16Array(tree.length);
  order.forEach((state, position) => {
    rank[state] = position;
  });
  const next = new Uint16Array(tree.length << SHIFT);
  const hits: number[][] = [];
  order.forEach((state, position) => {
    for (let symbol = 0; symbol < WIDTH; symbol++) {
      next[(position << SHIFT) | symbol] = rank[tree[state]?.[symbol] ?? 0] ?? 0;
    }
    hits.push(outputs[state] ?? []);
  });
  const firstOutput = hits.findIndex((list) => list.length > 0);
  const outputFrom = firstOutput < 0 ? tree.length : firstOutput;
  const lengths = Uint16Array.from(words, (word) => word.length);

  function run(text: string, from: number, to: number, start: number, onHit: (keyword: number, at: number) => void) {
    let state = start;
    for (let i = from; i < to; i++) {
      state = next[(state << SHIFT) | (classes[text.charCodeAt(i)] as number)] as number;
      if (state >= outputFrom) {
        const list = hits[state] as number[];
        for (let k = 0; k < list.length; k++) {
          const keyword = list[k] as number;
          onHit(keyword, i + 1 - (lengths[keyword] as number));
        }
      }
    }
    return state;
  }

  return { run, states: tree.length };
}

/** Fills every missing transition and joins the outputs along the suffix links, breadth first. */
function close(tree: Int32Array[], own: number[][]): number[][] {
  const suffix = new Int32Array(tree.length);
  const outputs = own.map((list) => [...list]);
  const queue: number[] = [0];
  for (let head = 0; head < queue.length; head++) {
    const state = queue[head] ?? 0;
    const row = tree[state];
    if (!row) continue;
    const fallback = tree[suffix[state] ?? 0];
    outputs[state]?.push(...(state === 0 ? [] : (outputs[suffix[state] ?? 0] ?? [])));
    for (let symbol = 0; symbol < WIDTH; symbol++) {
      const child = row[symbol] ?? -1;
      const other = state === 0 ? 0 : (fallback?.[symbol] ?? 0);
      if (child < 0) row[symbol] = other;
      else {
        suffix[child] = other;
        queue.push(child);
      }
    }
  }
  return outputs;
}
