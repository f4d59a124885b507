/** Markdown of messages: parsed without HTML, cleaned by an allow-list, kept for the messages on show. */
import DOMPurify from "dompurify";
import MarkdownIt, { type Token } from "markdown-it";
import { pathIn } from "./links.ts";

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
// `index.ts` and `main.rs` are files, not places of the web.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
// A picture of a message would ask another machine for it: its text stays.
parser.renderer.rules.image = (tokens, index) => parser.utils.escapeHtml(tokens[index]?.content ?? "");

/** Each block reads in the direction of its own first letter. */
const BLOCKS = new Set(["paragraph_open", "heading_open", "list_item_open", "blockquote_open", "td_open", "th_open"]);
parser.core.ruler.push("reading", (state) => {
  for (const [i, token] of state.tokens.entries()) {
    if (BLOCKS.has(token.type)) token.attrSet("dir", "auto");
    if (token.type === "list_item_open") toTask(token, state.tokens[i + 2]);
  }
});

/** `- [x] done`: the box as a sign of its own. */
function toTask(item: Token, inline: Token | undefined): void {
  const first = inline?.type === "inline" ? inline.children?.[0] : undefined;
  const box = first?.type === "text" ? /^\[([ xX])\] /.exec(first.content) : null;
  if (!first || !box) return;
  first.content = `${box[1] === " " ? "☐" : "☑"} ${first.content.slice(box[0].length)}`;
  item.attrJoin("class", "task");
}

const ALLOWED = {
  ALLOWED_TAGS: [
    "p",
    "br",
    "strong",
    "em",
    "s",
    "code",
    "pre",
    "ul",
    "ol",
    "li",
    "blockquote",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "a",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "span",
  ],
  ALLOWED_ATTR: ["href", "class", "start", "rel", "target", "dir"],
};

/** A file named in the text opens in the side pane: a button in all but its looks. */
function toPath(node: Element, path: string | undefined): void {
  if (path === undefined) return;
  node.setAttribute("data-path", path);
  node.setAttribute("role", "button");
  node.setAttribute("tabindex", "0");
}

/** A heading without words heads nothing: `| | |`. */
function withoutEmptyHeading(node: Element): void {
  if (node.tagName === "TH" && node.textContent.trim() === "") node.setAttribute("role", "presentation");
}

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  // Wide code and wide tables are scrolled by keys too.
  if (node.tagName === "PRE" || node.tagName === "TABLE") node.setAttribute("tabindex", "0");
  withoutEmptyHeading(node);
  if (node.tagName === "CODE" && node.parentElement?.tagName !== "PRE" && node.parentElement?.tagName !== "A")
    toPath(node, /[/.]/.test(node.textContent) ? pathIn(node.textContent) : undefined);
  if (node.tagName !== "A") return;
  const href = node.getAttribute("href") ?? "";
  if (!/^https?:\/\//i.test(href)) {
    // A path of the machine where the session ran leads nowhere on the web.
    node.removeAttribute("href");
    if (!/^[a-z][\w+.-]*:/i.test(href)) toPath(node, pathIn(decoded(href)));
    return;
  }
  node.setAttribute("rel", "noopener noreferrer");
  node.setAttribute("target", "_blank");
  const host = URL.canParse(href) ? new URL(href).host : "";
  if (host !== "" && !node.textContent.includes(host)) {
    const label = node.ownerDocument.createElement("span");
    label.className = "host";
    label.textContent = ` (${host})`;
    node.append(label);
  }
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Pages of our own guides have a purifier of their own: their links lead to pages of the dashboard. */
const guides = DOMPurify(window);

/** `toHref`: the address of what a link names. */
export function renderGuide(text: string, toHref: (href: string) => string): string {
  guides.removeAllHooks();
  guides.addHook("afterSanitizeAttributes", (node) => {
    if (node.tagName === "PRE" || node.tagName === "TABLE") node.setAttribute("tabindex", "0");
    withoutEmptyHeading(node);
    // The screen's heading takes the focus after a change of the address.
    if (node.tagName === "H1") node.setAttribute("tabindex", "-1");
    if (node.tagName !== "A") return;
    const href = toHref(node.getAttribute("href") ?? "");
    node.setAttribute("href", href);
    if (/^https?:/i.test(href)) {
      node.setAttribute("rel", "noopener noreferrer");
      node.setAttribute("target", "_blank");
    }
  });
  return guides.sanitize(parser.render(text), ALLOWED);
}

const cache = new Map<string, string>();
const KEPT = 600;

export function renderMarkdown(text: string): string {
  const known = cache.get(text);
  if (known !== undefined) {
    cache.delete(text);
    cache.set(text, known);
    return known;
  }
  const html = DOMPurify.sanitize(parser.render(text), ALLOWED);
  cache.set(text, html);
  if (cache.size > KEPT)
    for (const oldest of cache.keys()) {
      cache.delete(oldest);
      break;
    }
  return html;
}
