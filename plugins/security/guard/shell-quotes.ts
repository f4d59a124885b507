/** Signs of a shell: where quotes, brackets and here-documents end, and where redirections lead. */

/** Where `char` stands next that no backslash hides; the text's length when it does not. */
export function endOf(text: string, from: number, char: string): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === char) return at;
    if (text[at] === "\\") at++;
  }
  return text.length;
}

/** Where the bracket closes that opens at `from`; the text's length when it does not. */
export function closing(text: string, from: number, open: string, close: string): number {
  for (let at = from, level = 0; at < text.length; at++) {
    const char = text[at];
    if (char === "\\") at++;
    else if (char === open) level++;
    else if (char === close && --level === 0) return at;
  }
  return text.length;
}

/** What stands in `$'…'`. */
export function unescapeAnsi(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|([0-7]{1,3})|([\s\S]))/g,
    (_, hex, unicode, octal, char) => {
      if (hex ?? unicode) return String.fromCharCode(Number.parseInt(hex ?? unicode, 16));
      if (octal) return String.fromCharCode(Number.parseInt(octal, 8));
      return { n: "\n", t: "\t", r: "\r" }[char as string] ?? char;
    },
  );
}

/** `same`: the place of another output, or a file; `beside`: nothing of what the command prints. */
export type Target = "input" | "output" | "same" | "beside" | "heredoc" | "herestring";

/** What the redirection at `at`, behind the number `from`, takes from, or gives to; `tabs`: a here-document may end behind some. */
export function redirection(text: string, at: number, from: string): { length: number; target: Target; tabs: boolean } {
  const [sign = "<"] = /^(?:<<<|<<-?|<>|<&|<|>>|>&|>\||>)/.exec(text.slice(at, at + 3)) ?? [];
  const targets: Record<string, Target> = {
    "<<<": "herestring",
    "<<": "heredoc",
    "<<-": "heredoc",
    "<": "input",
    "<>": "input",
    "<&": "beside",
    ">&": "same",
  };
  const target = targets[sign] ?? "output";
  const beside = /^(?:output|same)$/.test(target) && !/^1?$/.test(from);
  return { length: sign.length, target: beside ? "beside" : target, tabs: sign === "<<-" };
}

/** What stands from `at` to the line that says `end`, and where that line ends. */
export function hereDocument(text: string, at: number, end: string, tabs: boolean): { body: string; next: number } {
  const stop = new RegExp(`\\n${tabs ? "\\t*" : ""}${end.replace(/\W/g, "\\$&")}(?=\\n|$)`, "g");
  // The end of the line before may be that of an empty body.
  stop.lastIndex = at - 1;
  const found = stop.exec(text);
  if (!found) return { body: text.slice(at), next: text.length };
  return { body: text.slice(at, Math.max(at, found.index + 1)), next: stop.lastIndex };
}
