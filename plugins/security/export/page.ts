/** A session as one static HTML page: no script, nothing from elsewhere, readable on a phone, in print, in light and dark. */
import { createHash } from "node:crypto";
import { showBidi } from "./clean.ts";
import {
  argumentText,
  countOf,
  DocumentWriter,
  type Entry,
  LABELS,
  mainArgument,
  oneLine,
  type SessionDocument,
  shortTime,
  toEntries,
  uncheckedNote,
} from "./document.ts";
import { escapeHtml, toHtml } from "./html.ts";
import { STYLE } from "./style.ts";

/** Longest text of a call or result on the page; the rest is counted and left out. */
const CUT = 20_000;

/** What the page's headers and its own meta element allow: the one style sheet in it. */
export const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(STYLE).digest("base64")}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`;
// A meta element cannot say who may frame the page: browsers warn and ignore it.
const META_POLICY = PAGE_POLICY.replace("; frame-ancestors 'none'", "");

export function toPage(document: SessionDocument): DocumentWriter {
  const { head, redactions, madeAt } = document;
  const out = new DocumentWriter();
  const title = show(oneLine(head.title, 200)) || "Session";
  out
    .raw(`<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n`)
    .raw(`<meta http-equiv="Content-Security-Policy" content="${META_POLICY}">\n`)
    .raw(`<meta name="viewport" content="width=device-width, initial-scale=1">\n`)
    .raw(`<meta name="robots" content="noindex, nofollow">\n<meta name="referrer" content="no-referrer">\n`)
    .raw(`<meta name="color-scheme" content="light dark">\n<title>`)
    .text(title)
    .raw(`</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<header>\n<h1>`)
    .text(title)
    .raw("</h1>\n<dl>\n");
  const facts: [string, string | null][] = [
    ["Assistant", head.tool],
    ["Project", head.project],
    ["Folder", head.path],
    ["Branch", head.branch],
    ["Models", head.models.join(", ") || null],
    ["Time", head.startedAt ? `${shortTime(head.startedAt)} – ${shortTime(head.endedAt)} UTC` : null],
    ["Messages", String(head.messages)],
  ];
  for (const [name, value] of facts)
    if (value)
      out
        .raw(`<div><dt>${name}</dt><dd>`)
        .text(show(oneLine(value, 300)))
        .raw("</dd></div>\n");
  out.raw("</dl>\n");
  if (redactions) {
    const count = countOf(redactions);
    out.raw(
      `<p class="redacted">${count === 0 ? "Nothing had to be" : `${count} ${count === 1 ? "place was" : "places were"}`} redacted.</p>\n`,
    );
    const note = uncheckedNote(redactions);
    if (note !== undefined) out.raw(`<p class="redacted">${note}.</p>\n`);
  }
  out.raw("</header>\n<main>\n");
  for (const entry of toEntries(document.events)) writeEntry(out, entry);
  return out.raw(
    `</main>\n<footer><p>A ${redactions ? "redacted " : ""}copy, made ${shortTime(madeAt)} UTC with sessarc.</p></footer>\n</body>\n</html>\n`,
  );
}

function writeEntry(out: DocumentWriter, { event, result }: Entry): void {
  const { kind } = event;
  const time = event.at
    ? `<time datetime="${escapeHtml(event.at)}">${escapeHtml(shortTime(event.at).slice(11))}</time>`
    : "";
  out.raw(`<article class="${kind}">\n`);
  if (kind === "user" || kind === "assistant") {
    out.raw(`<h2>${LABELS[kind]} ${time}</h2>\n`).text(toHtml(showBidi(event.text)));
  } else if (kind === "note") {
    out
      .raw("<p>")
      .text(show(event.text.length > CUT ? event.text.slice(0, CUT) : event.text))
      .raw("</p>\n");
  } else if (kind === "thinking") {
    out
      .raw("<details><summary>Thinking</summary>\n")
      .text(toHtml(showBidi(event.text)))
      .raw("</details>\n");
  } else if (kind === "tool_use") {
    out
      .raw(`<details><summary><b>`)
      .text(show(oneLine(event.tool_name ?? "Tool", 80)))
      .raw("</b> <code>");
    out
      .text(show(mainArgument(event.tool_input)))
      .raw(`</code>${result?.is_error ? ' <span class="bad">failed</span>' : ""}</summary>\n`);
    writeText(out, argumentText(event.tool_input).text || event.text, "Arguments");
    if (result) writeText(out.raw(`<h3>Result</h3>\n`), result.text, "Result");
    out.raw("</details>\n");
  } else {
    out.raw(`<details><summary><b>Result</b> <code>`).text(show(oneLine(event.tool_name ?? "", 80)));
    out.raw(`</code>${event.is_error ? ' <span class="bad">failed</span>' : ""}</summary>\n`);
    writeText(out, event.text, "Result");
    out.raw("</details>\n");
  }
  if (event.truncated || result?.truncated) out.raw(`<p class="cut">Cut at the storage limit.</p>\n`);
  out.raw("</article>\n");
}

function writeText(out: DocumentWriter, text: string, label: string): void {
  if (text === "") return;
  // Reached by keyboard, because it scrolls.
  out.raw(`<pre tabindex="0" role="group" aria-label="${label}">`);
  // The parser drops a line end right behind <pre>.
  out.text(`\n${show(text.slice(0, CUT))}`).raw("</pre>\n");
  if (text.length > CUT) out.raw(`<p class="cut">${text.length - CUT} more characters were left out here.</p>\n`);
}

const show = (text: string) => escapeHtml(showBidi(text));
