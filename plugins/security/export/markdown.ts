/** A session as Markdown: headings for who speaks, calls folded, and nothing in a message that can change what stands around it. */
import { mainArgument } from "sessarc/adapter";
import { showBidi } from "./clean.ts";
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
import { toSafeMarkdown } from "./safe-markdown.ts";

export function toMarkdown(document: SessionDocument): DocumentWriter {
  const { head, redactions } = document;
  const out = new DocumentWriter();
  out
    .raw("# ")
    .text(inline(oneLine(head.title, 200)))
    .raw("\n\n");
  const facts: [string, string | null][] = [
    ["Assistant", head.tool],
    ["Project", head.project],
    ["Folder", toFolder(head.path)],
    ["Branch", head.branch],
    ["Models", head.models.join(", ") || null],
    ["Time", head.startedAt ? `${shortTime(head.startedAt)} – ${shortTime(head.endedAt)} UTC` : null],
    ["Messages", String(head.messages)],
    ...head.notes.map((note): [string, string] => ["Note", note]),
  ];
  for (const [name, value] of facts)
    if (value)
      out
        .raw(`- **${name}:** `)
        .text(inline(oneLine(value, 300)))
        .raw("\n");
  if (redactions) {
    const count = countAll(redactions);
    out.raw(`- **Redacted:** ${count} ${count === 1 ? "place" : "places"}`);
    const rules = Object.entries(redactions).sort((a, b) => b[1] - a[1]);
    if (rules.length > 0) out.raw(` (${rules.map(([rule, n]) => `${n} ${rule}`).join(", ")})`);
    const note = uncheckedNote(redactions);
    out.raw(note === undefined ? "\n" : `\n- **Not checked:** ${note}\n`);
  }
  for (const entry of toEntries(document.events)) writeEntry(out, entry);
  return out.raw("\n");
}

function writeEntry(out: DocumentWriter, { event, result }: Entry): void {
  const time = event.at ? ` · ${shortTime(event.at).slice(11)}` : "";
  switch (event.kind) {
    case "user":
    case "assistant":
      out
        .raw(`\n## ${LABELS[event.kind]}${time}\n\n`)
        .text(toSafeMarkdown(showBidi(event.text)))
        .raw("\n");
      break;
    case "note":
      out
        .raw("\n")
        .text(quote(showBidi(event.text)))
        .raw("\n");
      break;
    case "thinking":
      fold(out, "Thinking", "", () => fence(out, event.text, ""));
      break;
    case "tool_use": {
      const { text, language } = argumentText(event.tool_input);
      const failed = result?.is_error ? " (failed)" : "";
      const about = oneLine(mainArgument(event.tool_input));
      fold(out, "", `${event.tool_name ?? "Tool"}${about && `: ${about}`}`, () => {
        fence(out, text || event.text, language);
        if (result) {
          out.raw(`\nResult${failed}:\n\n`);
          fence(out, result.text, "");
        }
      });
      break;
    }
    case "tool_result":
      fold(out, event.is_error ? "Result (failed)" : "Result", event.tool_name ?? "", () => fence(out, event.text, ""));
  }
  if (event.truncated || result?.truncated) out.raw("\n*(cut at the storage limit)*\n");
}

function fold(out: DocumentWriter, own: string, name: string, body: () => void): void {
  out
    .raw(`\n<details>\n<summary>${own}${own && name ? " " : ""}`)
    .text(html(showBidi(oneLine(name))))
    .raw("</summary>\n\n");
  body();
  out.raw("\n</details>\n");
}

/** Longer than any run of backticks inside. */
function fence(out: DocumentWriter, text: string, language: string): void {
  let longest = 2;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  const ticks = "`".repeat(longest + 1);
  out
    .raw(`${ticks}${language}\n`)
    .text(showBidi(text))
    .raw(`${text === "" || text.endsWith("\n") ? "" : "\n"}${ticks}\n`);
}

const quote = (text: string) =>
  toSafeMarkdown(text)
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");

/** One line of plain text: every character with a meaning in Markdown is escaped. */
const inline = (text: string) => showBidi(text).replace(/[\\`*_[\]<>#|~&!]/g, escapeOutsidePlaceholder);
const PLACEHOLDER = /\[REDACTED:[a-z0-9-]+(?:#[0-9a-f]{4})?\]/y;
function escapeOutsidePlaceholder(char: string, offset: number, text: string): string {
  PLACEHOLDER.lastIndex = text.lastIndexOf("[", offset);
  const match = PLACEHOLDER.exec(text);
  return match && match.index <= offset && offset < match.index + match[0].length ? char : `\\${char}`;
}

const html = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
