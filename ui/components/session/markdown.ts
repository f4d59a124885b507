/** Markdown of messages: parsed without HTML, cleaned by an allow-list, kept for the messages on show. */
import DOMPurify from "dompurify";
import MarkdownIt from "markdown-it";

const parser = new MarkdownIt({ html: false, linkify: false, breaks: false });
// A picture of a message would ask another machine for it: its text stays.
parser.renderer.rules.image = (tokens, index) => parser.utils.escapeHtml(tokens[index]?.content ?? "");

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
  ALLOWED_ATTR: ["href", "class", "start", "rel", "target"],
};

DOMPurify.addHook("afterSanitizeAttributes", (node) => {
  // Wide code is scrolled by keys too.
  if (node.tagName === "PRE") node.setAttribute("tabindex", "0");
  if (node.tagName !== "A") return;
  const href = node.getAttribute("href") ?? "";
  if (!/^https?:\/\//i.test(href)) {
    // A path of the machine where the session ran leads nowhere here.
    node.removeAttribute("href");
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
