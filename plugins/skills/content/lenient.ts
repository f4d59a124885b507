/** Frontmatter that is not YAML, as most assistants read it all the same: a plain value with a colon, or one that begins like a list. */

/** `key: value` or `- value`, with what is left of the line. */
const ENTRY = /^(\s*(?:- +)*(?:[\w.-]+:(?=\s|$)|-(?=\s|$))\s*)(.*)$/;
/** A text that begins here goes on in the lines below, whatever they hold. */
const BLOCK = /^[|>][-+0-9]*\s*(?:#.*)?$/;

/**
 * The same lines with quotes around each value that is not YAML by `isValid`; undefined where none is like that, or a quote has no end. Lines keep their numbers. A
 * value is plain text then, to its last line.
 */
export function quoteValues(lines: readonly string[], isValid: (entry: string) => boolean): string[] | undefined {
  const out: string[] = [];
  let changed = false;
  for (let i = 0; i < lines.length; ) {
    const line = lines[i] ?? "";
    const [, head = "", value = ""] = ENTRY.exec(line) ?? [];
    if (value === "" || value.startsWith("#")) {
      out.push(line);
      i++;
      continue;
    }
    const more = continuation(lines, i);
    i += 1 + more.length;
    if (BLOCK.test(value) || isValid(`k: ${[value, ...more].join("\n ")}`)) out.push(line, ...more);
    else {
      changed = true;
      const parts = [value, ...more].map((part) => part.trim());
      const text = parts.filter((part) => part !== "").join(" ");
      // A quote that never ends may take in more than the value.
      if (/^(?:"[^"]*|'[^']*)$/.test(text)) return undefined;
      out.push(head + JSON.stringify(unquoted(text)), ...more.map(() => ""));
    }
  }
  return changed ? out : undefined;
}

/** The lines that belong to the value on line `at`: deeper than its key, or blank between such. */
function continuation(lines: readonly string[], at: number): string[] {
  const indent = (line: string) => line.length - line.trimStart().length;
  const own = indent(lines[at] ?? "");
  let end = at + 1;
  for (let i = at + 1; i < lines.length; i++) {
    const line = lines[i] ?? "";
    if (line.trim() === "") continue;
    if (indent(line) <= own) break;
    end = i + 1;
  }
  return lines.slice(at + 1, end);
}

/** Without the quotes around all of it. */
function unquoted(text: string): string {
  const [first] = text;
  return text.length > 1 && (first === '"' || first === "'") && text.endsWith(first) ? text.slice(1, -1) : text;
}
