/** What a style sheet promises and only a browser can say: nothing sticks out, nothing is cut without a way to read it, figures align in columns, focus is seen. */
import type { Page } from "playwright-core";

/** Everything wrong with the look of the page as it stands, one line each. Moves the focus. */
export async function looks(page: Page): Promise<string[]> {
  return [...(await layoutFaults(page)), ...(await unseenFocus(page))];
}

/** What sticks out, is cut, or stands out of its column. */
export const layoutFaults = (page: Page): Promise<string[]> => page.evaluate(seen);

/** Texts that are printed over each other within what `selector` finds, one line a pair. */
export const overlaps = (page: Page, selector: string): Promise<string[]> => page.evaluate(printedOver, selector);

/** Runs in the page. */
function printedOver(selector: string): string[] {
  interface Line {
    text: string;
    top: number;
    bottom: number;
    left: number;
    right: number;
  }
  const lines: Line[] = [];
  /** As much of a line as what scrolls around it shows. */
  const clip = (text: string, { top, bottom, left, right }: DOMRect, parent: Element): Line => {
    const line = { text, top, bottom, left, right };
    for (let one: Element | null = parent; one; one = one.parentElement) {
      if (getComputedStyle(one).overflow === "visible") continue;
      const frame = one.getBoundingClientRect();
      line.top = Math.max(line.top, frame.top);
      line.bottom = Math.min(line.bottom, frame.bottom);
      line.left = Math.max(line.left, frame.left);
      line.right = Math.min(line.right, frame.right);
    }
    return line;
  };
  for (const root of document.querySelectorAll(selector)) {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = (node.textContent ?? "").trim().slice(0, 40);
      const parent = node.parentElement;
      if (text === "" || !parent?.checkVisibility({ visibilityProperty: true })) continue;
      // For screen readers only; a list of choices covers what is below it.
      if (parent.closest(".sr-only, [role=listbox]")) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const box of range.getClientRects()) lines.push(clip(text, box, parent));
    }
  }
  const problems = new Set<string>();
  for (const [i, a] of lines.entries())
    for (const b of lines.slice(i + 1)) {
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left);
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
      // Lines of a text may touch.
      if (width > 2 && height > 4) problems.add(`printed over each other: ${a.text} | ${b.text}`);
    }
  return [...problems];
}

/** Runs in the page. */
function seen(): string[] {
  const problems: string[] = [];
  const name = (element: Element) =>
    `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> ${(element.textContent ?? "").trim().replace(/\s+/g, " ").slice(0, 60)}`;
  const over = document.documentElement.scrollWidth - innerWidth;
  if (over > 0) problems.push(`sticks out by ${over} px`);

  /** A title, or a button beside it that opens the rest. */
  const isReachable = (element: Element) => {
    if (element.parentElement?.querySelector(":scope > button[aria-expanded]")) return true;
    const titled = element.closest("[title]") ?? element.querySelector("[title]");
    return titled !== null && (titled.getAttribute("title") ?? "").trim() !== "";
  };
  for (const element of document.querySelectorAll("body *")) {
    const style = getComputedStyle(element);
    if (style.visibility === "hidden" || element.clientWidth === 0) continue;
    const box = element.getBoundingClientRect();
    // For screen readers only.
    if (box.width <= 1 || box.height <= 1) continue;
    const clamps = style.webkitLineClamp !== "none";
    const ends = style.textOverflow === "ellipsis" || (style.overflowX !== "visible" && style.whiteSpace === "nowrap");
    const scrolls = /auto|scroll/.test(style.overflowX + style.overflowY);
    const isCut =
      (clamps && element.scrollHeight > element.clientHeight + 1) ||
      (ends && !scrolls && element.scrollWidth > element.clientWidth + 1);
    if (isCut && !isReachable(element)) problems.push(`cut, no title: ${name(element)}`);
  }

  // A figure: digits with at most a sign, a currency, a unit.
  const figure = /^[≈~<+−±-]?\s*\$?\d[\d.,:]*\s?(%|[KMGT]|k?B|MB|GB|ms|s|min|h)?\s?\+?$/;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent || !figure.test((node.textContent ?? "").trim())) continue;
    if (parent.closest("option, pre, code, textarea, script") || parent.getClientRects().length === 0) continue;
    const style = getComputedStyle(parent);
    if (style.fontVariantNumeric.includes("tabular-nums") || style.fontFamily.includes("JetBrains")) continue;
    problems.push(`figure not tabular: ${name(parent)}`);
  }
  return [...new Set(problems)];
}

/** The first elements that Tab reaches: those that look focused as they look unfocused, or whose ring is cut off on most sides. */
async function unseenFocus(page: Page): Promise<string[]> {
  await page.evaluate(watch);
  // The first by the key, which makes a browser show the focus; the others by a script, which takes a fifth of the time.
  await page.keyboard.press("Tab");
  return page.evaluate("watchedFocus.end()");
}

/** Runs in the page: writes down how each element looks with the focus; at the end nothing has it, and each must look different. */
function watch(): void {
  type Look = [outline: string, shadow: string, border: string];
  const looked = new Map<Element, Look[]>();
  const problems: string[] = [];
  const name = (element: Element) =>
    `<${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> ${(element.getAttribute("aria-label") ?? element.textContent ?? "").trim().slice(0, 40)}`;
  // A hidden radio button shows the focus on what stands around it, a tree on its active row.
  const around = (element: Element) =>
    [
      element,
      element.parentElement,
      element.parentElement?.parentElement,
      element.nextElementSibling,
      document.getElementById(element.getAttribute("aria-activedescendant") ?? ""),
    ].filter((one): one is Element => one instanceof Element && one !== document.body);
  const look = (element: Element): Look[] =>
    around(element).map((one) => {
      const style = getComputedStyle(one);
      const outline =
        style.outlineStyle === "none" || Number.parseFloat(style.outlineWidth) === 0
          ? "none"
          : `${style.outlineStyle} ${style.outlineWidth} ${style.outlineColor}`;
      return [outline, style.boxShadow, style.borderColor];
    });
  const cutSides = (element: Element): number => {
    const style = getComputedStyle(element);
    const reach = Number.parseFloat(style.outlineOffset) + Number.parseFloat(style.outlineWidth);
    const box = element.getBoundingClientRect();
    let cut = 0;
    const sides = {
      left: box.left - reach,
      top: box.top - reach,
      right: box.right + reach,
      bottom: box.bottom + reach,
    };
    for (let one = element.parentElement; one && one !== document.body; one = one.parentElement) {
      if (getComputedStyle(one).overflow === "visible") continue;
      const frame = one.getBoundingClientRect();
      const now = [
        sides.left < frame.left - 0.5,
        sides.top < frame.top - 0.5,
        sides.right > frame.right + 0.5,
        sides.bottom > frame.bottom + 0.5,
      ].filter(Boolean).length;
      cut = Math.max(cut, now);
    }
    return cut;
  };
  const stops = () => {
    const isStop = (element: HTMLElement) =>
      element.tabIndex >= 0 &&
      !element.matches(":disabled, iframe") &&
      !element.closest("[inert], [aria-hidden=true]") &&
      element.checkVisibility({ visibilityProperty: true }) &&
      // Of a group, Tab reaches the one that is chosen.
      !(element instanceof HTMLInputElement && element.type === "radio" && !element.checked);
    return [...document.querySelectorAll<HTMLElement>("body *")].filter(isStop).slice(0, 40);
  };
  const onFocus = (event: FocusEvent) => {
    const element = event.target as Element;
    if (element === document.body) return;
    looked.set(element, look(element));
    const { outlineStyle } = getComputedStyle(element);
    if (outlineStyle !== "none" && cutSides(element) >= 3) problems.push(`ring is cut off: ${name(element)}`);
  };
  addEventListener("focusin", onFocus);
  Object.assign(window, {
    watchedFocus: {
      async end() {
        for (const element of stops()) {
          element.focus();
          // What its component does about it is done.
          await null;
        }
        (document.activeElement as HTMLElement | null)?.blur();
        await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        removeEventListener("focusin", onFocus);
        // Only now: as long as a neighbour has the focus, what stands around both looks different.
        for (const [element, focused] of looked) {
          if (element.isConnected && JSON.stringify(look(element)) === JSON.stringify(focused))
            problems.push(`focus unseen: ${name(element)}`);
        }
        return [...new Set(problems)];
      },
    },
  });
  // Tab begins at the beginning.
  document.body.tabIndex = -1;
  document.body.focus();
  document.body.removeAttribute("tabindex");
}
