/** A shell line taken apart: its simple commands with their words, as far as they can be known without running it. */

export interface Word {
  text: string;
  /** Holds an expansion whose value only the shell will know. */
  open: boolean;
  /** Holds unquoted `*`, `?`, `[` or `{`. */
  pattern: boolean;
}

export interface SimpleCommand {
  words: Word[];
  /** Files it gets on stdin. */
  input: Word[];
  /** Here-documents and here-strings. */
  bodies: string[];
  /** Stands for commands that were not looked at: nested too deep, or too many. */
  unknown?: true;
}

const DEPTH = 4;
/** Words, blanks and signs looked at, all nested commands together; what is quoted and a here-document are one. What follows is not looked at. */
export const STEPS = 150_000;
/** What a command, and a line inside of a line, cost beside their words. */
const COMMAND_STEPS = 4;
const NESTED_STEPS = 10;
/** What variables may make of one word. */
const GROWN_LIMIT = 64 * 1024;
/** Stands for what was not looked at. */
const UNKNOWN: SimpleCommand = { words: [], input: [], bodies: [], unknown: true };
const PLAIN = /[^\s'"$`\\<>;&|(){}!#*?[]+/y;
const PLAIN_IN_QUOTES = /[^"$`\\]+/y;
const BLANKS = /[^\S\n]+/y;
/** No name of a file is longer; `A=$A$A` over and over would be. */
export const WORD_LIMIT = 4096;

/** All simple commands in order, those inside of substitutions included. `vars` are known values; assignments add to them. */
export function parseShell(
  text: string,
  vars: Map<string, string>,
  left: { steps: number },
  depth = 0,
): SimpleCommand[] {
  const done: SimpleCommand[] = [];
  if (depth > DEPTH) return [UNKNOWN];
  let at = 0;
  let word: Word | undefined;
  let command: SimpleCommand = { words: [], input: [], bodies: [] };
  let target: "word" | "input" | "output" | "heredoc" | "herestring" = "word";
  const ends: { end: string; command: SimpleCommand }[] = [];

  const add = (more: string): Word => {
    word ??= { text: "", open: false, pattern: false };
    word.text += more;
    return word;
  };
  const endWord = () => {
    if (!word) return;
    const assigned = command.words.length === 0 && /^([A-Za-z_]\w*)=(.*)$/s.exec(word.text);
    if (target === "input") command.input.push(word);
    else if (target === "heredoc") ends.push({ end: word.text, command });
    else if (target === "herestring") command.bodies.push(word.text);
    else if (target === "word" && !assigned) command.words.push(word);
    else if (assigned && target === "word") {
      const [, name = "", value = ""] = assigned;
      if (word.open || value.length > WORD_LIMIT) vars.delete(name);
      else vars.set(name, value);
    }
    word = undefined;
    target = "word";
  };
  const endCommand = () => {
    endWord();
    left.steps -= COMMAND_STEPS;
    if (command.words.length + command.input.length > 0) done.push(command);
    command = { words: [], input: [], bodies: [] };
  };
  /** What an expression that sticks to `at` takes; leaves `at` behind it. */
  const run = (expression: RegExp): string => {
    expression.lastIndex = at;
    const [taken = ""] = expression.exec(text) ?? [];
    at += taken.length;
    return taken;
  };
  const nested = (inner: string) => {
    left.steps -= NESTED_STEPS;
    for (const one of parseShell(inner, vars, left, depth + 1)) done.push(one);
  };
  /** What stands between brackets that begin at `at`; leaves `at` behind them. */
  const bracketed = (open: string, close: string): string => {
    const from = at + 1;
    for (let level = 0; at < text.length; at++) {
      const char = text[at];
      if (char === "\\") at++;
      else if (char === open) level++;
      else if (char === close && --level === 0) break;
    }
    return text.slice(from, at++);
  };
  const dollar = () => {
    at++;
    if (text[at] === "(") {
      nested(bracketed("(", ")"));
      add("").open = true;
    } else if (text[at] === "'") {
      const end = endOfAnsi(text, at + 1);
      add(unescapeAnsi(text.slice(at + 1, end)));
      at = end + 1;
    } else {
      const name = text[at] === "{" ? bracketed("{", "}") : (/^\w+/.exec(text.slice(at, at + 64))?.[0] ?? "");
      if (text[at - 1] !== "}") at += name.length;
      const value = vars.get(name);
      if (value === undefined) add(name === "" ? "$" : "").open ||= name !== "";
      else if ((word?.text.length ?? 0) + value.length <= GROWN_LIMIT) add(value);
      else done.push(UNKNOWN);
    }
  };
  const backticks = () => {
    const end = text.indexOf("`", at + 1);
    nested(text.slice(at + 1, end < 0 ? text.length : end));
    add("").open = true;
    at = end < 0 ? text.length : end + 1;
  };
  const double = () => {
    add("");
    for (at++; at < text.length && text[at] !== '"' && left.steps-- > 0; ) {
      const char = text.charAt(at);
      if (char === "$") dollar();
      else if (char === "`") backticks();
      else if (char === "\\") {
        if ('"\\$`\n'.includes(text[at + 1] ?? "")) at++;
        add(text[at] === "\n" ? "" : text.charAt(at));
        at++;
      } else add(run(PLAIN_IN_QUOTES));
    }
    at++;
  };
  /** The here-documents that begin behind the line that ends at `at`. */
  const hereDocuments = () => {
    for (const { end, command: owner } of ends.splice(0)) {
      const rest = text.slice(at);
      const stop = new RegExp(`^\\t*${end.replace(/\W/g, "\\$&")}$`, "m").exec(rest);
      owner.bodies.push(rest.slice(0, stop?.index ?? rest.length));
      at += stop ? stop.index + stop[0].length : rest.length;
    }
  };

  while (at < text.length) {
    if (left.steps-- <= 0) {
      done.push(UNKNOWN);
      break;
    }
    const char = text.charAt(at);
    if (char === "'") {
      const end = text.indexOf("'", at + 1);
      add(text.slice(at + 1, end < 0 ? text.length : end));
      at = end < 0 ? text.length : end + 1;
    } else if (char === '"') double();
    else if (char === "$") dollar();
    else if (char === "`") backticks();
    else if (char === "\\") {
      if (text[at + 1] !== "\n") add(text.charAt(at + 1));
      at += 2;
    } else if (char === "#" && !word) {
      const end = text.indexOf("\n", at);
      at = end < 0 ? text.length : end;
    } else if (char === "<" || char === ">") {
      if (word && /^\d$/.test(word.text)) word = undefined;
      endWord();
      if (text[at + 1] === "(") {
        at++;
        nested(bracketed("(", ")"));
      } else {
        const operator = /^(?:<<<|<<-?|<>|<&|<|>>|>&|>\||>)/.exec(text.slice(at, at + 3))?.[0] ?? char;
        at += operator.length;
        if (operator === "<<<") target = "herestring";
        else if (operator.startsWith("<<")) target = "heredoc";
        else target = operator === "<" || operator === "<>" ? "input" : "output";
      }
    } else if (char === "\n") {
      endCommand();
      at++;
      hereDocuments();
    } else if (run(BLANKS) !== "") endWord();
    else if (";&|()".includes(char) || (/[{}!]/.test(char) && !word && /^\s?$/.test(text[at + 1] ?? ""))) {
      endCommand();
      at++;
    } else {
      const plain = run(PLAIN);
      if (plain !== "") {
        add(plain);
        if (run(BLANKS) !== "") endWord();
      } else {
        add(char).pattern ||= "*?[{".includes(char);
        at++;
      }
    }
  }
  endCommand();
  return done;
}

function endOfAnsi(text: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "'") return at;
    if (text[at] === "\\") at++;
  }
  return text.length;
}

function unescapeAnsi(text: string): string {
  return text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|([0-7]{1,3})|([\s\S]))/g,
    (_, hex, unicode, octal, char) => {
      if (hex ?? unicode) return String.fromCharCode(Number.parseInt(hex ?? unicode, 16));
      if (octal) return String.fromCharCode(Number.parseInt(octal, 8));
      return { n: "\n", t: "\t", r: "\r" }[char as string] ?? char;
    },
  );
}
