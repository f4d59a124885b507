/** A shell line taken apart: its simple commands with their words, as far as they can be known without running it. */
import { fill, isBeforeProgram, isCommand, isUntouched, leadsGroup, take, WHICH } from "./command.ts";
import { BLANKS, COST, Cursor, PLAIN } from "./cursor.ts";
import { closing, endOf, hereDocument, redirection, type Target, unescapeAnsi } from "./shell-quotes.ts";
import { assignList, namesIn, type Variables } from "./variables.ts";
import { emptyCommand, emptyWord, type SimpleCommand, unknownCommand, type Word } from "./words.ts";

const DEPTH = 12;

/** All simple commands in order, those inside of substitutions included. Assignments add to `vars`. Yields where it may be interrupted. */
export function* parseShell(text: string, vars: Variables, left: { steps: number }): Generator<void, SimpleCommand[]> {
  const reader = new Reader(text, vars, left, 0);
  yield* reader.commands();
  return reader.done;
}

class Reader extends Cursor {
  readonly done: SimpleCommand[] = [];
  readonly #documents: { end: string; tabs: boolean; quoted: boolean; owner: SimpleCommand }[] = [];
  readonly #vars: Variables;
  #depth: number;
  /** Begun, and not yet among those that are done. */
  #command = emptyCommand();
  /** Some of a substitution's commands print elsewhere. */
  #led = false;

  constructor(text: string, vars: Variables, left: { steps: number }, depth: number) {
    super(text, left);
    this.#vars = vars;
    this.#depth = depth;
  }

  /** Up to the end of the text, or behind the bracket that closes what began before. */
  *commands(inside = false): Generator<void> {
    const [text, outer] = [this.text, this.#command];
    this.#command = emptyCommand();
    let word: Word | undefined;
    let target: Target | "word" = "word";
    let [quoted, tabs] = [false, false];
    /** Open brackets, and `case`s: the bracket behind a pattern closes nothing. */
    let [level, cases] = [0, 0];

    const here = (): Word => {
      word ??= emptyWord();
      return word;
    };
    const endWord = () => {
      if (!word) return;
      if (target === "heredoc") this.#documents.push({ end: word.text, tabs, quoted, owner: this.#command });
      else take(this.#command, word, target, this.#vars);
      word = undefined;
      quoted = false;
      target = "word";
    };
    const endCommand = (piped = false) => {
      endWord();
      this.left.steps -= COST.command;
      const command = this.#command;
      const first = command.words[0]?.text;
      if (first === "for") assignList(command.words, this.#vars);
      cases += Number(first === "case") - Number(first === "esac");
      if (isCommand(command)) this.done.push(command);
      this.#command = emptyCommand();
      if (piped) command.pipe = this.#command;
      this.#led ||= leadsGroup(command);
    };

    while (this.at < text.length) {
      if (this.left.steps-- <= 0) {
        this.#stop();
        break;
      }
      if (this.pauses()) yield;
      const char = text.charAt(this.at);
      if (char === "'") {
        const end = text.indexOf("'", this.at + 1);
        here().text += text.slice(this.at + 1, end < 0 ? text.length : end);
        quoted = true;
        this.at = end < 0 ? text.length : end + 1;
      } else if (char === '"') {
        quoted = true;
        this.at++;
        yield* this.#expanded(here(), '"');
      } else if (char === "$") {
        quoted ||= text[this.at + 1] === "'";
        yield* this.#dollar(here());
      } else if (char === "`") yield* this.#backticks(here());
      else if (char === "\\") {
        if (text[this.at + 1] !== "\n") here().text += text.charAt(this.at + 1);
        quoted = true;
        this.at += 2;
      } else if (char === "#" && !word) {
        const end = text.indexOf("\n", this.at);
        this.at = end < 0 ? text.length : end;
      } else if (char === "<" || char === ">") {
        const from = word && /^\d$/.test(word.text) ? word.text : "";
        if (from !== "") word = undefined;
        endWord();
        if (text[this.at + 1] === "(") {
          this.at += 2;
          if (char === ">") this.#command.aside = true;
          yield* this.#leading(emptyWord(), this.#nested(), true);
        } else {
          const operator = redirection(text, this.at, from);
          this.at += operator.length;
          ({ target, tabs } = operator);
        }
      } else if (char === "\n") {
        endWord();
        // A pipe goes on in the next line.
        if (!isUntouched(this.#command)) endCommand();
        this.at++;
        yield* this.#hereDocuments();
      } else if (this.run(BLANKS) !== "") endWord();
      else if (char === "(" && !word && this.#command.words.length === 0 && this.#isSum()) {
        this.at += 2;
        yield* this.#sum();
      } else if (";&|()".includes(char) || (/[{}!]/.test(char) && !word && /^\s?$/.test(text[this.at + 1] ?? ""))) {
        const piped = char === "|" && text[this.at + 1] !== "|" && text[this.at - 1] !== "|";
        endCommand(piped);
        this.at += piped && text[this.at + 1] === "&" ? 2 : 1;
        if (char === "(") level++;
        else if (char === ")" && level > 0) level--;
        else if (char === ")" && inside && cases <= 0) break;
      } else {
        const plain = this.run(PLAIN.word);
        if (plain !== "") {
          here().text += plain;
          if (this.run(BLANKS) !== "") endWord();
        } else {
          here().text += char;
          here().pattern ||= "*?[{".includes(char);
          this.at++;
        }
      }
    }
    endCommand();
    this.#command = outer;
  }

  /** What follows is not looked at. */
  #stop(): void {
    this.done.push(unknownCommand());
    this.at = this.text.length;
  }

  /** Commands inside of this text, up to their bracket. */
  *#nested(): Generator<void> {
    this.left.steps -= COST.nested;
    if (this.#depth >= DEPTH) return this.#stop();
    this.#depth++;
    yield* this.commands(true);
    this.#depth--;
  }

  /** What `work` adds becomes a word, or a file, of the command that is begun. */
  *#leading(word: Word, work: Generator<void>, file = false): Generator<void> {
    const [command, start, led] = [this.#command, this.done.length, this.#led];
    this.#led = false;
    yield* work;
    if (!this.#led) for (const one of this.done.slice(start)) one.into ??= { command, word, file };
    this.#led = led;
  }

  /** Another text than this one. */
  *#inner(text: string, read: (reader: Reader) => Generator<void>): Generator<void> {
    this.left.steps -= COST.nested;
    if (this.#depth >= DEPTH) {
      this.done.push(unknownCommand());
      return;
    }
    const reader = new Reader(text, this.#vars, this.left, this.#depth + 1);
    yield* read(reader);
    for (const one of reader.done) this.done.push(one);
    this.#led ||= reader.#led;
  }

  /** What variables and substitutions make of a text up to `end`, or up to its end. */
  *#expanded(word: Word, end: '"' | undefined): Generator<void> {
    const text = this.text;
    while (this.at < text.length && text[this.at] !== end) {
      if (this.left.steps-- <= 0) return this.#stop();
      if (this.pauses()) yield;
      const char = text.charAt(this.at);
      if (char === "$") yield* this.#dollar(word, true);
      else if (char === "`") yield* this.#backticks(word);
      else if (char === "\\") {
        const next = text[this.at + 1] ?? "";
        if (next === end || "\\$`\n".includes(next)) this.at++;
        word.text += text[this.at] === "\n" ? "" : text.charAt(this.at);
        this.at++;
      } else word.text += this.run(end ? PLAIN.quoted : PLAIN.text);
    }
    this.at++;
  }

  *#dollar(word: Word, quoted = false): Generator<void> {
    const text = this.text;
    const next = text[++this.at];
    if (next === "(") {
      if (text.startsWith("(pwd)", this.at)) {
        this.at += 5;
        return this.#add(word, "PWD");
      }
      const which = this.#which(word, text.slice(this.at, this.at + 64));
      this.at += which;
      if (which > 0) return;
      word.open = true;
      if (this.#isSum()) {
        this.at += 2;
        return yield* this.#sum();
      }
      this.at++;
      yield* this.#leading(word, this.#nested());
    } else if (next === "'" && !quoted) {
      const end = endOf(text, this.at + 1, "'");
      word.text += unescapeAnsi(text.slice(this.at + 1, end));
      this.at = end + 1;
    } else if (next === '"' && !quoted) {
      // `$"a"` is `"a"` in the user's language.
    } else if (next === "{") {
      const end = closing(text, this.at, "{", "}");
      const inner = text.slice(this.at + 1, end);
      this.at = end + 1;
      this.#add(word, inner);
      // `${A:-$(cat b)}`
      if (/\$\(|`/.test(inner)) yield* this.#inner(inner, (reader) => reader.#expanded(emptyWord(), undefined));
    } else {
      const name = /^(?:\w+|[@*])/.exec(text.slice(this.at, this.at + 64))?.[0] ?? "";
      this.at += name.length;
      if (name === "") word.text += "$";
      else this.#add(word, name);
    }
  }

  /** How long the place of a program is that begins the command; its name is in `word` then. */
  #which(word: Word, text: string): number {
    if (word.text !== "" || !isBeforeProgram(this.#command.words)) return 0;
    const [found = "", program = ""] = WHICH.exec(text) ?? [];
    word.text = program;
    return found.length;
  }

  #add(word: Word, name: string): void {
    const value = this.#vars.get(name);
    if (!value) {
      word.open = true;
      word.names = namesIn(name, word.names);
      return;
    }
    word.text += value.text;
    word.pattern ||= value.pattern;
    this.left.steps -= Math.floor(value.text.length / COST.long);
  }

  *#backticks(word: Word): Generator<void> {
    const end = endOf(this.text, this.at + 1, "`");
    const inner = this.text.slice(this.at + 1, end).replace(/\\([`$\\])/g, "$1");
    this.at = end + 1;
    if (this.#which(word, `(${inner.slice(0, 64)})`) > 0) return;
    word.open = true;
    yield* this.#leading(
      word,
      this.#inner(inner, (reader) => reader.commands()),
    );
  }

  /** `((1 << 2))` stands here: no redirection is in it. */
  #isSum(): boolean {
    if (!this.text.startsWith("((", this.at)) return false;
    const end = closing(this.text, this.at, "(", ")");
    this.left.steps -= Math.floor((end - this.at) / COST.long);
    // Nobody runs what is not closed.
    if (end === this.text.length) this.#stop();
    return this.text[end - 1] === ")" || end === this.text.length;
  }

  /** Its substitutions; leaves it behind. */
  *#sum(): Generator<void> {
    const end = closing(this.text, this.at - 2, "(", ")");
    yield* this.#inner(this.text.slice(this.at, Math.max(this.at, end - 1)), (reader) =>
      reader.#expanded(emptyWord(), undefined),
    );
    this.at = end + 1;
  }

  /** Those that begin at this line. */
  *#hereDocuments(): Generator<void> {
    for (const { end, tabs, quoted, owner } of this.#documents.splice(0)) {
      const { body, next } = hereDocument(this.text, this.at, end, tabs);
      this.at = next;
      if (quoted || !/[$`\\]/.test(body)) owner.bodies.push(body);
      else {
        const word = emptyWord();
        yield* this.#inner(body, (reader) => reader.#expanded(word, undefined));
        fill(owner, word);
      }
    }
  }
}
