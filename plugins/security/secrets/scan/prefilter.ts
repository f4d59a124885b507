/**
 * Keyword prefilter: one pass over the text finds every occurrence of every keyword (Aho-Corasick, ASCII case folded).
 * The automaton is one dense table, states with output numbered last, so that the loop is two loads and a compare for
 * each UTF-16 unit.
 */
interface Prefilter {
  /** Calls `onHit(keyword index, start)` for each occurrence that ends in [from, to); answers the state to resume with. */
  run(text: string, from: number, to: number, state: number, onHit: (keyword: number, start: number) => void): number;
  readonly states: number;
}

const SHIFT = 6;
const WIDTH = 1 << SHIFT;
/** Classes for all other characters together: words of them may be reported where others are, and the expression decides. */
const SHARED = 6;
const MOST = 65_535;
const NOTHING: readonly number[] = [];

/** At most 57 distinct (folded) ASCII characters and 65,535 states; throws a RangeError beyond. */
export function createPrefilter(keywords: readonly string[]): Prefilter {
  const classes = new Uint8Array(65_536);
  let used = 0;
  const words = keywords.map((word) => word.toLowerCase());
  const chars = [...new Set(words.join(""))];
  for (const char of chars.filter((one) => one <= "\x7f")) {
    if (++used >= WIDTH - SHARED) throw new RangeError("Keywords hold too many different characters");
    classes[char.charCodeAt(0)] = used;
    classes[char.toUpperCase().charCodeAt(0)] = used;
  }
  chars
    .filter((one) => one > "\x7f")
    .forEach((char, at) => {
      const upper = char.toUpperCase();
      for (const one of upper.length === 1 && upper > "\x7f" ? [char, upper] : [char])
        classes[one.charCodeAt(0)] = used + 1 + (at % SHARED);
    });

  // One row of transitions for each state, all in one table: a row of its own for each takes ten times as long to make. 0, the root, is
  // no node's child: it stands for "none" until `close` has filled the row.
  const room = 1 + words.reduce((sum, word) => sum + word.length, 0);
  const tree = new Int32Array(Math.min(room, MOST) << SHIFT);
  const own: number[][] = [[]];
  words.forEach((word, index) => {
    let state = 0;
    for (let i = 0; i < word.length; i++) {
      const at = (state << SHIFT) | (classes[word.charCodeAt(i)] ?? 0);
      state = tree[at] || own.push([]) - 1;
      if (state >= MOST) throw new RangeError("Too many keywords");
      tree[at] = state;
    }
    own[state]?.push(index);
  });
  const states = own.length;

  const outputs = close(tree, own);
  const outputFrom = outputs.filter((list) => list.length === 0).length;
  const rank = new Uint16Array(states);
  const hits = outputs.map(() => NOTHING);
  let [silent, telling] = [0, outputFrom];
  outputs.forEach((list, state) => {
    const position = list.length === 0 ? silent++ : telling++;
    rank[state] = position;
    hits[position] = list;
  });
  const next = new Uint16Array(states << SHIFT);
  for (let state = 0; state < states; state++) {
    const [from, to] = [state << SHIFT, (rank[state] ?? 0) << SHIFT];
    for (let symbol = 0; symbol < WIDTH; symbol++) next[to | symbol] = rank[tree[from | symbol] ?? 0] ?? 0;
  }
  const lengths = Uint16Array.from(words, (word) => word.length);

  function run(text: string, from: number, to: number, start: number, onHit: (keyword: number, at: number) => void) {
    let state = start;
    for (let i = from; i < to; i++) {
      state = next[(state << SHIFT) | (classes[text.charCodeAt(i)] as number)] as number;
      if (state >= outputFrom) {
        const list = hits[state] as readonly number[];
        for (let k = 0; k < list.length; k++) {
          const keyword = list[k] as number;
          onHit(keyword, i + 1 - (lengths[keyword] as number));
        }
      }
    }
    return state;
  }

  return { run, states };
}

/** Fills every missing transition and joins the outputs along the suffix links, breadth first. */
function close(tree: Int32Array, own: readonly (readonly number[])[]): readonly (readonly number[])[] {
  const suffix = new Int32Array(own.length);
  const outputs = [...own];
  const queue = [0];
  for (const state of queue) {
    const fallback = suffix[state] ?? 0;
    const inherited = state === 0 ? NOTHING : (outputs[fallback] ?? NOTHING);
    if (inherited.length > 0) outputs[state] = [...(outputs[state] ?? NOTHING), ...inherited];
    for (let symbol = 0; symbol < WIDTH; symbol++) {
      const at = (state << SHIFT) | symbol;
      const other = state === 0 ? 0 : (tree[(fallback << SHIFT) | symbol] ?? 0);
      const child = tree[at] ?? 0;
      if (child === 0) tree[at] = other;
      else {
        suffix[child] = other;
        queue.push(child);
      }
    }
  }
  return outputs;
}
