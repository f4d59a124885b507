/** The part of Markdown that assistants write, as HTML made from escaped text alone. Linear; what it does not know stays text. */

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => ENTITIES[char] as string);
}
const ENTITIES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

const FENCE = /^ {0,12}(`{3,}|~{3,})([^`]*)$/;
const ITEM = /^ {0,8}(?:[-*+]|(\d{1,9})[.)]) +(.*)$/;
const HEADING = /^#{1,6} +(.*?)[ #]*$/;

export function toHtml(text: string): string {
  const lines = text.split("\n");
  const out: string[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] as string;
    const fence = FENCE.exec(line);
    if (fence) {
      const end = endOfFence(lines, i + 1, fence[1] as string);
      out.push(code(lines.slice(i + 1, end)));
      i = end + 1;
    } else if (line.trim() === "") {
      i++;
    } else if (HEADING.test(line)) {
      out.push(`<h3>${inline((HEADING.exec(line) as RegExpExecArray)[1] as string)}</h3>\n`);
      i++;
    } else {
      const end = endOfBlock(lines, i);
      out.push(block(lines.slice(i, end)));
      i = end;
    }
  }
  return out.join("");
}

const code = (lines: readonly string[]) =>
  `<pre tabindex="0" role="group" aria-label="Code">\n${escapeHtml(lines.join("\n"))}</pre>\n`;

function endOfFence(lines: readonly string[], from: number, mark: string): number {
  for (let i = from; i < lines.length; i++) {
    const line = (lines[i] as string).trim();
    if (line.length >= mark.length && line === (mark[0] as string).repeat(line.length)) return i;
  }
  return lines.length;
}

/** Lines of one kind that follow each other. */
function endOfBlock(lines: readonly string[], from: number): number {
  const kind = kindOf(lines[from] as string);
  let i = from + 1;
  for (; i < lines.length; i++) {
    const line = lines[i] as string;
    if (line.trim() === "" || FENCE.test(line) || HEADING.test(line)) break;
    const own = kindOf(line);
    if (own !== kind && !(kind.startsWith("item") && own === "text")) break;
  }
  return i;
}

function kindOf(line: string): string {
  if (line.startsWith(">")) return "quote";
  if (line.startsWith("|")) return "table";
  const item = ITEM.exec(line);
  return item ? `item${item[1] === undefined ? "" : "1"}` : "text";
}

function block(lines: readonly string[]): string {
  const kind = kindOf(lines[0] as string);
  if (kind === "quote")
    return `<blockquote><p>${inlines(lines.map((line) => line.replace(/^> ?/, "")))}</p></blockquote>\n`;
  if (kind === "table") return code(lines);
  if (kind === "text") return `<p>${inlines(lines)}</p>\n`;
  const items: string[][] = [];
  for (const line of lines) {
    const item = ITEM.exec(line);
    if (item) items.push([item[2] as string]);
    else items.at(-1)?.push(line.trim());
  }
  const tag = kind === "item1" ? "ol" : "ul";
  const start = Number(ITEM.exec(lines[0] as string)?.[1] ?? 1);
  const from = tag === "ol" && start !== 1 ? ` start="${start}"` : "";
  return `<${tag}${from}>\n${items.map((item) => `<li>${inlines(item)}</li>\n`).join("")}</${tag}>\n`;
}

const inlines = (lines: readonly string[]) => lines.map(inline).join("<br>\n");

/** Code, links to http and https, addresses, bold. Every alternative is bounded. */
const INLINE =
  /(?<!`)(``?)(?!`)([^\n]{1,400}?)(?<!`)\1(?!`)|\[([^[\]\n]{1,300})\]\((https?:\/\/[^\s()<>"']{1,2000})\)|(https?:\/\/[^\s<>"'`()[\]]{1,2000})|\*\*([^*\n]{1,400})\*\*/g;

function inline(text: string): string {
  let out = "";
  let at = 0;
  for (const match of text.matchAll(INLINE)) {
    const [whole, , span, label, target, address, bold] = match;
    out += escapeHtml(text.slice(at, match.index));
    if (span !== undefined) out += `<code>${escapeHtml(span)}</code>`;
    else if (label !== undefined) out += link(target as string, label);
    else if (address !== undefined) out += link(address, address);
    else if (bold !== undefined) out += `<strong>${escapeHtml(bold)}</strong>`;
    at = match.index + whole.length;
  }
  return out + escapeHtml(text.slice(at));
}

/** Where a link leads is said beside it when its words do not. */
function link(target: string, label: string): string {
  const url = URL.parse?.(target) ?? parse(target);
  if (!url) return escapeHtml(label === target ? target : `${label} (${target})`);
  const host = label.includes(url.host) ? "" : ` (${escapeHtml(url.host)})`;
  return `<a href="${escapeHtml(url.href)}" rel="noopener noreferrer nofollow">${escapeHtml(label)}</a>${host}`;
}

function parse(target: string): URL | undefined {
  return URL.canParse(target) ? new URL(target) : undefined;
}
