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

/** Ranges of `wanted` in the text below `root`, in any case; a hit may run over several elements. Linear in the text. */
export function toRanges(root: Node, wanted: string, most = MOST): Range[] {
  const needle = wanted.toLowerCase();
  if (needle === "") return [];
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
  const [hay, find] = lower.length === text.length ? [lower, needle] : [text, wanted];
  const ranges: Range[] = [];
  let at = 0;
  const place = (offset: number): [Text, number] | undefined => {
    while (at + 1 < starts.length && (starts[at + 1] ?? 0) <= offset) at++;
    const node = nodes[at];
    return node ? [node, offset - (starts[at] ?? 0)] : undefined;
  };
  for (let hit = hay.indexOf(find); hit >= 0 && ranges.length < most; hit = hay.indexOf(find, hit + find.length)) {
    const from = place(hit);
    const to = place(hit + find.length - 1);
    if (!from || !to) break;
    const range = document.createRange();
    range.setStart(...from);
    range.setEnd(to[0], to[1] + 1);
    ranges.push(range);
  }
  return ranges;
}

/** `here`: the row of the match one is at. Answers its first range. */
export function mark(list: Element, wanted: string, here: Element | null): Range | undefined {
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
