/** Markdown of messages as HTML: the parser of the dashboard's transcript, without HTML, pictures and addresses other than http and https. */
import MarkdownIt, { type RendererRule, type Token } from "markdown-it";

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);
}
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false });
// `index.ts` and `main.rs` are files, not places of the web.
parser.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
parser.validateLink = () => true; // an address that is not http(s) is dropped below

const { rules } = parser.renderer;
// A picture would ask another machine for it: its text stays.
rules.image = (tokens, index) => escapeHtml(tokens[index]?.content ?? "");
const code: RendererRule = (tokens, index) =>
  `<pre tabindex="0" role="group" aria-label="Code">\n${escapeHtml((tokens[index]?.content ?? "").replace(/\n$/, ""))}</pre>\n`;
rules.fence = code;
rules.code_block = code;
// Wide tables are scrolled by keys too.
rules.table_open = () => `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>\n`;
rules.table_close = () => "</table></div>\n";
rules.link_open = (tokens, index) => {
  const url = webAddress(tokens[index]);
  return url ? `<a href="${escapeHtml(url.href)}" rel="noopener noreferrer nofollow">` : "";
};
rules.link_close = (tokens, index) => {
  const from = toOpening(tokens, index);
  const url = webAddress(tokens[from]);
  if (!url) return "";
  // Where a link leads is said beside it when its words do not.
  const label = tokens.slice(from, index).map(({ content }) => content);
  return label.join("").includes(url.host) ? "</a>" : `</a> (${escapeHtml(url.host)})`;
};

// The page's own headings are the first two levels.
parser.core.ruler.push("page", (state) => {
  for (const [i, token] of state.tokens.entries()) {
    if (token.type === "heading_open" || token.type === "heading_close") token.tag = "h3";
    if (token.type === "list_item_open") toTask(token, state.tokens[i + 2]);
    // The policy of the page forbids styles.
    if (token.type === "th_open" || token.type === "td_open") token.attrs = null;
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

function toOpening(tokens: readonly Token[], close: number): number {
  for (let i = close; i >= 0; i--) if (tokens[i]?.type === "link_open") return i;
  return close;
}

function webAddress(token: Token | undefined): URL | undefined {
  const href = String(token?.attrGet("href") ?? "");
  return /^https?:\/\//i.test(href) && URL.canParse(href) ? new URL(href) : undefined;
}

/** Longer texts are shown as they are. */
const MOST = 500_000;

/** Linear. What the parser does not know stays text. */
export const toHtml = (text: string): string =>
  text.length > MOST
    ? `<pre tabindex="0" role="group" aria-label="Text">\n${escapeHtml(text)}</pre>\n`
    : parser.render(text);
