/** What a shell command writes into files, where its words have the text: `cat > file <<'END'`, `printf '…' > file`, `echo '…' >> file`, `sed -i 's/…/…/' file`. */

interface ShellWrite {
  path: string;
  /** Lines that it writes. */
  text?: string;
  /** What it puts inside of lines. */
  piece?: string;
}

/** Longer commands hold data, and no more redirections than the ones at their start. */
const LIMIT = 1 << 16;
const START = "(?:^|\\n|&&|;)\\s*";
const QUOTED = "'[^']*'|\"(?:[^\"\\\\$`]|\\\\[^$`])*\"";
const PATH = `(${QUOTED}|[^\\s'"$\`*?;&|<>()]+)`;
const HERE = /(?:^|\n|&&|;)\s*(?:cat\s*>>?\s*(\S+)\s*<<-?\s*|cat\s*<<-?\s*)(['"]?)(\w+)\2(?:\s*>>?\s*(\S+))?[^\n]*\n/g;
const PRINT = new RegExp(
  `${START}(printf|echo)((?:[ \\t]+(?:-[neE]+(?=[ \\t])|${QUOTED}))+)[ \\t]*>>?[ \\t]*${PATH}[ \\t]*(?=$|\\n|&&|;)`,
  "g",
);
const SED = new RegExp(
  `${START}sed[ \\t]+(?:-[Er][ \\t]+)?-i(?:[ \\t]+'')?[ \\t]+(?:-e[ \\t]+)?'s([^'\\n]*)'[ \\t]+${PATH}[ \\t]*(?=$|\\n|&&|;)`,
  "g",
);

export function* shellWrites(command: string): Generator<ShellWrite> {
  const text = command.slice(0, LIMIT);
  if (text.includes("<<")) yield* hereDocuments(command);
  if (text.includes(">"))
    for (const [, name, words = "", path = ""] of text.matchAll(PRINT)) {
      const args = [...words.matchAll(new RegExp(`-[neE]+(?=[ \\t])|${QUOTED}`, "g"))].map(([word]) => word);
      const written = name === "printf" ? printed(args) : echoed(args);
      if (written !== undefined) yield { path: plain(path), text: written };
    }
  if (text.includes("sed"))
    for (const [, script = "", path = ""] of text.matchAll(SED)) {
      const piece = replacement(script);
      if (piece !== undefined) yield { path: plain(path), piece };
    }
}

function* hereDocuments(command: string): Generator<ShellWrite> {
  for (const match of command.matchAll(HERE)) {
    const [whole, before, , end = "", after] = match;
    const path = (before ?? after)?.replace(/^(['"])(.*)\1$/, "$2");
    const start = match.index + whole.length;
    const stop = command.slice(start).search(new RegExp(`^\\s*${end}\\s*$`, "m"));
    if (path && !/[$`*?]/.test(path) && stop > 0) yield { path, text: command.slice(start, start + stop - 1) };
  }
}

/** A word without its quotes. */
function plain(word: string): string {
  if (word.startsWith("'")) return word.slice(1, -1);
  return word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(["\\])/g, "$1") : word;
}

/** What `/…/…/g` puts in; undefined where it depends on what was found. */
function replacement(script: string): string | undefined {
  const [, piece = "", flags, ...more] = script.slice(1).split(script.charAt(0));
  const isPlain = piece !== "" && !/[&\\]/.test(piece) && (flags === "" || flags === "g") && more.length === 0;
  return isPlain ? piece : undefined;
}

/** Undefined for a text that shells print differently: `echo` with a backslash. */
function echoed(args: readonly string[]): string | undefined {
  const options = args.filter((word) => word.startsWith("-"));
  const text = args
    .filter((word) => !word.startsWith("-"))
    .map(plain)
    .join(" ");
  return options.length > 0 || text.includes("\\") ? undefined : text;
}

/** Undefined for a format with more than `%s` and `%%`. */
function printed([first, ...rest]: readonly string[]): string | undefined {
  if (first === undefined || first.startsWith("-")) return undefined;
  const format = plain(first);
  if (/%(?![s%])|\\(?![ntr\\'"])/.test(format)) return undefined;
  const args = rest.map(plain);
  let text = "";
  // The format is used again for the arguments that are left.
  do text += format.replaceAll(/%s|%%|\\./g, (one) => (one === "%s" ? (args.shift() ?? "") : (ESCAPES[one] ?? "")));
  while (args.length > 0 && format.includes("%s"));
  return text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "%%": "%",
  "\\n": "\n",
  "\\t": "\t",
  "\\r": "\r",
  "\\\\": "\\",
  "\\'": "'",
  '\\"': '"',
};
