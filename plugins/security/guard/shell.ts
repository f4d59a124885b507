/** A shell line taken apart: its simple commands with their words, as far as they can be known without running it. */
import { closing, endOf, hereDocument, redirection, type Target, unescapeAnsi } from "./shell-quotes.ts";
import { assignList, assigns, type Variables } from "./variables.ts";
import { type SimpleCommand, UNKNOWN, type Word } from "./words.ts";

const DEPTH = 12;
/** Words, blanks and signs looked at, all nested commands together; what is quoted and a here-document are one. What follows is not looked at. */
export const STEPS = 150_000;
/** Steps between two places where the work may be interrupted. */
const PAUSE_STEPS = 200;
/** What a command, and a line inside of a line, cost beside their words. */
const COMMAND_STEPS = 4;
const NESTED_STEPS = 10;
/** Characters that a variable adds, or a bracket is looked for, for the price of a step. */
const LONG_STEP = 64;
const PLAIN = /[^\s'"$`\\<>;&|(){}!#*?[]+/y;
const PLAIN_IN_QUOTES = /[^"$`\\]+/y;
const PLAIN_IN_TEXT = /[^$`\\]+/y;
const BLANKS = /[^\S\n]+/y;

/** All simple commands in order, those inside of substitutions included. Assignments add to `vars`. Yields where it may be interrupted. */
export function* parseShell(text: string, vars: Variables, left: { steps: number }): Generator<void, SimpleCommand[]> {
  const reader = new Reader(text, vars, left, 0);
  yield* reader.commands();
  return reader.done;
}

class Reader {
  readonly done: SimpleCommand[] = [];
  #at = 0;
  #pause: number;
  readonly #documents: { end: string; tabs: boolean; quoted: boolean; owner: SimpleCommand }[] = [];
  readonly #text: string;
  readonly #vars: Variables;
  readonly #left: { steps: number };
  #depth: number;

  constructor(text: string, vars: Variables, left: { steps: number }, depth: number) {
    this.#text = text;
    this.#vars = vars;
    this.#left = left;
    this.#depth = depth;
    this.#pause = left.steps - PAUSE_STEPS;
  }

  /** Up to the end of the text, or behind the bracket that closes what began before. */
  *commands(inside = false): Generator<void> {
    const text = this.#text;
    let word: Word | undefined;
    let quoted = false;
    let command: SimpleCommand = { words: [], input: [], bodies: [] };
    let target: Target | "word" = "word";
    let tabs = false;
    /** Open brackets, and `case`s: the bracket behind a pattern closes nothing. */
    let [level, cases] = [0, 0];

    const here = (): Word => {
      word ??= { text: "", open: false, pattern: false };
      return word;
    };
    const endWord = () => {
      if (!word) return;
      if (target === "input") command.input.push(word);
      else if (target === "heredoc") this.#documents.push({ end: word.text, tabs, quoted, owner: command });
      else if (target === "herestring") command.bodies.push(word.text);
      else if (target === "word" && !assigns(word, command.words, this.#vars)) command.words.push(word);
      word = undefined;
      quoted = false;
      target = "word";
    };
    const endCommand = () => {
      endWord();
      this.#left.steps -= COMMAND_STEPS;
      const first = command.words[0]?.text;
      if (first === "for") assignList(command.words, this.#vars);
      cases += Number(first === "case") - Number(first === "esac");
      if (command.words.length + command.input.length > 0) this.done.push(command);
      command = { words: [], input: [], bodies: [] };
    };

    while (this.#at < text.length) {
      if (this.#left.steps-- <= 0) {
        this.#stop();
        break;
      }
      if (this.#pauses()) yield;
      const char = text.charAt(this.#at);
      if (char === "'") {
        const end = text.indexOf("'", this.#at + 1);
        here().text += text.slice(this.#at + 1, end < 0 ? text.length : end);
        quoted = true;
        this.#at = end < 0 ? text.length : end + 1;
      } else if (char === '"') {
        quoted = true;
        this.#at++;
        yield* this.#expanded(here(), '"');
      } else if (char === "$") {
        quoted ||= text[this.#at + 1] === "'";
        yield* this.#dollar(here());
      } else if (char === "`") yield* this.#backticks(here());
      else if (char === "\\") {
        if (text[this.#at + 1] !== "\n") here().text += text.charAt(this.#at + 1);
        quoted = true;
        this.#at += 2;
      } else if (char === "#" && !word) {
        const end = text.indexOf("\n", this.#at);
        this.#at = end < 0 ? text.length : end;
      } else if (char === "<" || char === ">") {
        if (word && /^\d$/.test(word.text)) word = undefined;
        endWord();
        if (text[this.#at + 1] === "(") {
          this.#at += 2;
          yield* this.#nested();
        } else {
          const operator = redirection(text, this.#at);
          this.#at += operator.length;
          ({ target, tabs } = operator);
        }
      } else if (char === "\n") {
        endCommand();
        this.#at++;
        yield* this.#hereDocuments();
      } else if (this.#run(BLANKS) !== "") endWord();
      else if (char === "(" && !word && command.words.length === 0 && this.#isSum()) {
        this.#at += 2;
        yield* this.#sum();
      } else if (";&|()".includes(char) || (/[{}!]/.test(char) && !word && /^\s?$/.test(text[this.#at + 1] ?? ""))) {
        endCommand();
        this.#at++;
        if (char === "(") level++;
        else if (char === ")" && level > 0) level--;
        else if (char === ")" && inside && cases <= 0) break;
      } else {
        const plain = this.#run(PLAIN);
        if (plain !== "") {
          here().text += plain;
          if (this.#run(BLANKS) !== "") endWord();
        } else {
          here().text += char;
          here().pattern ||= "*?[{".includes(char);
          this.#at++;
        }
      }
    }
    endCommand();
  }

  #pauses(): boolean {
    if (this.#left.steps > this.#pause) return false;
    this.#pause = this.#left.steps - PAUSE_STEPS;
    return true;
  }

  /** What an expression that sticks to the place takes. */
  #run(expression: RegExp): string {
    expression.lastIndex = this.#at;
    const [taken = ""] = expression.exec(this.#text) ?? [];
    this.#at += taken.length;
    return taken;
  }

  /** What follows is not looked at. */
  #stop(): void {
    this.done.push(UNKNOWN);
    this.#at = this.#text.length;
  }

  /** Commands inside of this text, up to their bracket. */
  *#nested(): Generator<void> {
    this.#left.steps -= NESTED_STEPS;
    if (this.#depth >= DEPTH) return this.#stop();
    this.#depth++;
    yield* this.commands(true);
    this.#depth--;
  }

  /** Another text than this one. */
  *#inner(text: string, read: (reader: Reader) => Generator<void>): Generator<void> {
    this.#left.steps -= NESTED_STEPS;
    if (this.#depth >= DEPTH) {
      this.done.push(UNKNOWN);
      return;
    }
    const reader = new Reader(text, this.#vars, this.#left, this.#depth + 1);
    yield* read(reader);
    for (const one of reader.done) this.done.push(one);
  }

  /** What variables and substitutions make of a text up to `end`, or up to its end. */
  *#expanded(word: Word, end: '"' | undefined): Generator<void> {
    const text = this.#text;
    while (this.#at < text.length && text[this.#at] !== end) {
      if (this.#left.steps-- <= 0) return this.#stop();
      if (this.#pauses()) yield;
      const char = text.charAt(this.#at);
      if (char === "$") yield* this.#dollar(word, true);
      else if (char === "`") yield* this.#backticks(word);
      else if (char === "\\") {
        const next = text[this.#at + 1] ?? "";
        if (next === end || "\\$`\n".includes(next)) this.#at++;
        word.text += text[this.#at] === "\n" ? "" : text.charAt(this.#at);
        this.#at++;
      } else word.text += this.#run(end ? PLAIN_IN_QUOTES : PLAIN_IN_TEXT);
    }
    this.#at++;
  }

  *#dollar(word: Word, quoted = false): Generator<void> {
    const text = this.#text;
    const next = text[++this.#at];
    if (next === "(") {
      if (text.startsWith("(pwd)", this.#at)) {
        this.#at += 5;
        return this.#add(word, "PWD");
      }
      word.open = true;
      if (this.#isSum()) {
        this.#at += 2;
        return yield* this.#sum();
      }
      this.#at++;
      yield* this.#nested();
    } else if (next === "'" && !quoted) {
      const end = endOf(text, this.#at + 1, "'");
      word.text += unescapeAnsi(text.slice(this.#at + 1, end));
      this.#at = end + 1;
    } else if (next === '"' && !quoted) {
      // `$"a"` is `"a"` in the user's language.
    } else if (next === "{") {
      const end = closing(text, this.#at, "{", "}");
      const inner = text.slice(this.#at + 1, end);
      this.#at = end + 1;
      this.#add(word, inner);
      // `${A:-$(cat b)}`
      if (/\$\(|`/.test(inner)) yield* this.#inner(inner, (reader) => reader.#expanded(emptyWord(), undefined));
    } else {
      const name = /^(?:\w+|[@*])/.exec(text.slice(this.#at, this.#at + 64))?.[0] ?? "";
      this.#at += name.length;
      if (name === "") word.text += "$";
      else this.#add(word, name);
    }
  }

  #add(word: Word, name: string): void {
    const value = this.#vars.get(name);
    if (!value) {
      word.open = true;
      return;
    }
    word.text += value.text;
    word.pattern ||= value.pattern;
    this.#left.steps -= Math.floor(value.text.length / LONG_STEP);
  }

  *#backticks(word: Word): Generator<void> {
    const end = endOf(this.#text, this.#at + 1, "`");
    const inner = this.#text.slice(this.#at + 1, end).replace(/\\([`$\\])/g, "$1");
    this.#at = end + 1;
    word.open = true;
    yield* this.#inner(inner, (reader) => reader.commands());
  }

  /** `((1 << 2))` stands here: no redirection is in it. */
  #isSum(): boolean {
    if (!this.#text.startsWith("((", this.#at)) return false;
    const end = closing(this.#text, this.#at, "(", ")");
    this.#left.steps -= Math.floor((end - this.#at) / LONG_STEP);
    // Nobody runs what is not closed.
    if (end === this.#text.length) this.#stop();
    return this.#text[end - 1] === ")" || end === this.#text.length;
  }

  /** Its substitutions; leaves it behind. */
  *#sum(): Generator<void> {
    const start = this.#at;
    const end = closing(this.#text, start - 2, "(", ")");
    yield* this.#inner(this.#text.slice(start, Math.max(start, end - 1)), (reader) =>
      reader.#expanded(emptyWord(), undefined),
    );
    this.#at = end + 1;
  }

  /** Those that begin at this line. */
  *#hereDocuments(): Generator<void> {
    for (const { end, tabs, quoted, owner } of this.#documents.splice(0)) {
      const { body, next } = hereDocument(this.#text, this.#at, end, tabs);
      this.#at = next;
      if (quoted || !/[$`\\]/.test(body)) owner.bodies.push(body);
      else {
        const word = emptyWord();
        yield* this.#inner(body, (reader) => reader.#expanded(word, undefined));
        owner.bodies.push(word.text);
      }
    }
  }
}

const emptyWord = (): Word => ({ text: "", open: false, pattern: false });
