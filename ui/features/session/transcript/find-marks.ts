/** Marks what is searched for in the rows on show, without touching their elements (CSS custom highlights). */

/** Marked at most: rows of 5 MB are not searched to their end. */
const MOST = 2_000;

/** Here and not among the styles: their compiler does not know the selector yet. */
const RULES = `
::highlight(find) { background-color: var(--mark); color: var(--ink) }
::highlight(find-here) { background-color: var(--accent); color: var(--on-accent) }`;
let styled = false;
function style(): void {
  if (styled) return;
  styled = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(RULES);
  document.adoptedStyleSheets.push(sheet);
}

/** Ranges of the words in the text below `root`, in any case and in order; a hit may run over several elements. Linear in the text. */
export function toRanges(root: Node, words: readonly string[], most = MOST): Range[] {
  const nodes: Text[] = [];
  const starts: number[] = [];
  let text = "";
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (!(node instanceof Text) || node.parentElement?.closest("button, time, .sr-only")) continue;
    nodes.push(node);
    starts.push(text.length);
    text += node.data;
  }
  // A letter whose small form is longer would shift all places: then case counts.
  const lower = text.toLowerCase();
  const isSame = lower.length === text.length;
  const place = (offset: number): [Text, number] | undefined => {
    const at = nodeAt(starts, offset);
    const node = nodes[at];
    return node ? [node, offset - (starts[at] ?? 0)] : undefined;
  };
  return hitsIn(isSame ? lower : text, isSame ? words.map((word) => word.toLowerCase()) : words, most).flatMap(
    ([start, end]) => {
      const from = place(start);
      const to = place(end - 1);
      if (!from || !to) return [];
      const range = document.createRange();
      range.setStart(...from);
      range.setEnd(to[0], to[1] + 1);
      return [range];
    },
  );
}

/** Letters of a word that is marked inside of others, where there are more words. */
const LEAST_INSIDE = 4;

/** Places of the words, in order: as the search marks them, where one is there as a whole word, not those inside of others. */
function hitsIn(text: string, words: readonly string[], most: number): [start: number, end: number][] {
  const hits: [number, number][] = [];
  for (const word of words) {
    if (word === "") continue;
    const found: number[] = [];
    for (let hit = text.indexOf(word); hit >= 0 && found.length < most; hit = text.indexOf(word, hit + word.length))
      found.push(hit);
    const fits = found.map((hit) => fitAt(text, hit, hit + word.length));
    const best = Math.max(...fits);
    if (best === 0 && words.length > 1 && word.length < LEAST_INSIDE) continue;
    for (const [i, hit] of found.entries())
      if (fits[i] === best && hits.length < most) hits.push([hit, hit + word.length]);
  }
  return hits.sort((a, b) => a[0] - b[0]);
}

const WORD = /[\p{L}\p{N}_]/u;
/** Written without spaces: a part of a sentence is a word. */
const UNSPACED = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmr}\p{sc=Mymr}]/u;
const isEdge = (inside: string, outside: string) =>
  !WORD.test(outside) || !WORD.test(inside) || UNSPACED.test(inside) || UNSPACED.test(outside);

/** 0: inside a word, 1: at its beginning, 2: all of it. */
function fitAt(text: string, start: number, end: number): number {
  if (!isEdge(text.charAt(start), text.charAt(start - 1))) return 0;
  return isEdge(text.charAt(end - 1), text.charAt(end)) ? 2 : 1;
}

/** Index of the last start that is not after the offset. */
function nodeAt(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** `here`: the row of the match one is at. Answers its first range. */
export function mark(list: Element, wanted: readonly string[], here: Element | null): Range | undefined {
  if (!("highlights" in CSS)) return undefined;
  style();
  const all: Range[] = [];
  let first: Range | undefined;
  const own: Range[] = [];
  for (const row of list.querySelectorAll("article")) {
    const found = toRanges(row, wanted, MOST - all.length);
    if (row !== here) all.push(...found);
    else {
      first = found[0];
      own.push(...found);
    }
  }
  CSS.highlights.set("find", new Highlight(...all));
  CSS.highlights.set("find-here", new Highlight(...own));
  return first;
}

export function unmark(): void {
  if (!("highlights" in CSS)) return;
  CSS.highlights.delete("find");
  CSS.highlights.delete("find-here");
}

/** Brings a range into view: first inside the box of its own that scrolls, then in the list. */
export function reveal(range: Range, list: HTMLElement): void {
  const start = range.startContainer.parentElement;
  const box = start?.closest("pre");
  const margin = 40;
  const shift = (outer: HTMLElement) => {
    const [view, hit] = [outer.getBoundingClientRect(), range.getBoundingClientRect()];
    if (hit.top < view.top) outer.scrollTop -= view.top - hit.top + margin;
    else if (hit.bottom > view.bottom) outer.scrollTop += hit.bottom - view.bottom + margin;
  };
  if (box) shift(box);
  shift(list);
}
