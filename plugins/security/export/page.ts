/** A session as one static HTML page: no script, nothing from elsewhere, readable on a phone, in print, in light and dark. */
import { mainArgument } from "sessarc/adapter";
import { showBidi } from "./clean.ts";
import { type ChangedFile, findChanges } from "./diff.ts";
import {
  argumentText,
  countAll,
  DocumentWriter,
  type Entry,
  LABELS,
  oneLine,
  type SessionDocument,
  shortTime,
  toEntries,
  toFolder,
  uncheckedNote,
} from "./document.ts";
import { escapeHtml, toHtml } from "./html.ts";
import { POLICY } from "./policy.ts";
import { STYLE } from "./style.ts";

/** Longest text of a call or result on the page; the rest is counted and left out. */
const CUT = 20_000;

export function toPage(document: SessionDocument): DocumentWriter {
  const { head, redactions, madeAt } = document;
  const out = new DocumentWriter();
  const title = show(oneLine(head.title, 200)) || "Session";
  out
    .raw(`<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n`)
    .raw(`<meta http-equiv="Content-Security-Policy" content="${POLICY}">\n`)
    .raw(`<meta name="viewport" content="width=device-width, initial-scale=1">\n`)
    .raw(`<meta name="robots" content="noindex, nofollow">\n<meta name="referrer" content="no-referrer">\n`)
    .raw(`<meta name="color-scheme" content="light dark">\n<title>`)
    .text(title)
    .raw(`</title>\n<style>${STYLE}</style>\n</head>\n<body>\n<header>\n<h1>`)
    .text(title)
    .raw("</h1>\n<dl>\n");
  const facts: [string, string | null][] = [
    ["Assistant", document.toolName ?? head.tool],
    ["Project", head.project],
    ["Folder", toFolder(head.path)],
    ["Branch", head.branch],
    ["Models", head.models.join(", ") || null],
    ["Messages", String(head.messages)],
    ...head.notes.map((note): [string, string] => ["Note", note]),
  ];
  for (const [name, value] of facts)
    if (value)
      out
        .raw(`<div><dt>${name}</dt><dd>`)
        .text(show(oneLine(value, 300)))
        .raw("</dd></div>\n");
  if (head.startedAt) out.raw(`<div><dt>Time</dt><dd>${toSpan(head.startedAt, head.endedAt)}</dd></div>\n`);
  if (document.expiresAt) out.raw(`<div><dt>Link expires</dt><dd>${toTime(document.expiresAt)}</dd></div>\n`);
  out.raw("</dl>\n");
  if (redactions) {
    const count = countAll(redactions);
    out.raw(
      `<p class="redacted">${count === 0 ? "Nothing had to be" : `${count} ${count === 1 ? "place was" : "places were"}`} redacted.</p>\n`,
    );
    const note = uncheckedNote(redactions);
    if (note !== undefined) out.raw(`<p class="redacted">${note}.</p>\n`);
  }
  out.raw("</header>\n<main>\n");
  for (const entry of toEntries(document.events)) writeEntry(out, entry, head.path);
  return out.raw(
    `</main>\n<footer><p>A ${redactions ? "redacted " : ""}copy, made ${toTime(madeAt)} with sessarc.</p></footer>\n</body>\n</html>\n`,
  );
}

/** In UTC, since nothing on the page knows the reader's zone; times are ours and hold nothing of a session. */
const toTime = (iso: string) => `<time datetime="${escapeHtml(iso)}">${escapeHtml(shortTime(iso))} UTC</time>`;

/** On one day the day is said once. */
function toSpan(start: string, end: string | null): string {
  if (!end || shortTime(end) === shortTime(start)) return toTime(start);
  if (end.slice(0, 10) !== start.slice(0, 10)) return `${toTime(start)} – ${toTime(end)}`;
  return `${toTime(start)} – <time datetime="${escapeHtml(end)}">${escapeHtml(shortTime(end).slice(11))} UTC</time>`;
}

function writeEntry(out: DocumentWriter, { event, result }: Entry, root: string | null): void {
  const { kind } = event;
  const time = event.at
    ? `<time datetime="${escapeHtml(event.at)}">${escapeHtml(shortTime(event.at).slice(11))} UTC</time>`
    : "";
  out.raw(`<article class="${kind}">\n`);
  if (kind === "user" || kind === "assistant") {
    out.raw(`<h2>${LABELS[kind]} ${time}</h2>\n`).text(toHtml(showBidi(event.text)));
  } else if (kind === "note") {
    out
      .raw("<p>")
      .text(show(event.text.slice(0, CUT)))
      .raw("</p>\n");
    writeLeft(out, event.text.length - CUT, "character");
  } else if (kind === "thinking") {
    out
      .raw("<details><summary>Thinking</summary>\n")
      .text(toHtml(showBidi(event.text)))
      .raw("</details>\n");
  } else if (kind === "tool_use") {
    const changes = findChanges(event.tool_input);
    out
      .raw(`<details${changes && !result?.is_error ? " open" : ""}><summary><b>`)
      .text(show(oneLine(event.tool_name ?? "Tool", 80)))
      .raw("</b> <code>");
    out
      .text(show(oneLine(relative(changes?.[0]?.path || mainArgument(event.tool_input), root))))
      .raw(`</code>${result?.is_error ? ' <span class="bad">failed</span>' : ""}</summary>\n`);
    if (changes) writeChanges(out, changes, root);
    else writeText(out, argumentText(event.tool_input).text || event.text, "Arguments");
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

/** Paths inside the session's folder from there on. */
const relative = (path: string, root: string | null) =>
  root && root.length > 1 && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path;

const SIGNS = { "+": "ins", "-": "del", " ": "span", "@": "span" } as const;

function writeChanges(out: DocumentWriter, changes: readonly ChangedFile[], root: string | null): void {
  let left = CUT;
  for (const { path, lines } of changes) {
    // The first one's path is in the summary.
    if (changes.length > 1 && path !== "")
      out
        .raw("<h3>")
        .text(show(oneLine(relative(path, root))))
        .raw("</h3>\n");
    out.raw(`<pre class="diff" tabindex="0" role="group" aria-label="Changes">\n`);
    let shown = 0;
    let unsaid = 0;
    for (const { sign, text } of lines) {
      if (left <= 0) break;
      const tag = SIGNS[sign];
      const part = text.slice(0, left);
      unsaid = text.length - part.length;
      left -= part.length + 1;
      shown++;
      out
        .raw(`<${tag}>${sign === "@" ? "" : sign}`)
        .text(show(part))
        .raw(`\n</${tag}>`);
    }
    out.raw("</pre>\n");
    writeLeft(out, unsaid, "character");
    writeLeft(out, lines.length - shown, "line");
  }
}

function writeText(out: DocumentWriter, text: string, label: string): void {
  if (text === "") return;
  // Reached by keyboard, because it scrolls.
  out.raw(`<pre tabindex="0" role="group" aria-label="${label}">`);
  // The parser drops a line end right behind <pre>.
  out.text(`\n${show(text.slice(0, CUT))}`).raw("</pre>\n");
  writeLeft(out, text.length - CUT, "character");
}

function writeLeft(out: DocumentWriter, count: number, what: string): void {
  if (count > 0) out.raw(`<p class="cut">${count} more ${what}${count === 1 ? " was" : "s were"} left out here.</p>\n`);
}

const show = (text: string) => escapeHtml(showBidi(text));
