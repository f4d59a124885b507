/** `entities` as Markdown needs it: the browser knows the names of all letters, so the page brings no table of them. */
const template = document.createElement("template");

/** The letters that `&name;` stands for; the same text where there is no such name. */
export function decodeHTMLStrict(text: string): string {
  template.innerHTML = text;
  const decoded = template.content.textContent ?? "";
  // `&notit;` begins with a name of old, which needs no semicolon; Markdown takes none of these.
  return decoded.length > 1 && decoded.endsWith(";") ? text : decoded;
}
