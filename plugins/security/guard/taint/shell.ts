/** The simple commands of a shell line, read from unbash's syntax tree. Their words are resolved as far as possible without running the line. */
import {
  type Assignment,
  type Command,
  type CommandExpansionPart,
  type CompoundList,
  forEachChild,
  type ParameterExpansionPart,
  type ParsedScript,
  type Pipeline,
  type ProcessSubstitutionPart,
  parse,
  type Redirected,
  type Redirection,
  type SyntaxNode,
  type Word as WordNode,
  type WordPart,
} from "unbash";
import {
  createCommand,
  resolveEscapes,
  type SimpleCommand,
  toWord,
  type Variables,
  WORD_LIMIT,
  type Word,
} from "./words.ts";

/** The work that remains for a line and all lines inside it. */
export interface Allowance {
  /** Commands, words and expansions. */
  steps: number;
  /** Characters to parse; a substitution is parsed once for each level around it. */
  characters: number;
  /** The allowance was not enough, so that a part of the line is unknown. */
  cut: boolean;
  /** The line has a syntax error, so that what the shell makes of it is unknown. */
  broken: boolean;
}

/** Where a command's output goes when the command itself does not redirect it. */
type Sink = Pick<SimpleCommand, "out" | "pipe" | "into" | "aside">;

const DEPTH = 12;
const NAMES_LIMIT = 50;
/** unbash takes quadratic time for pending here-documents of one line. */
const HERE_DOCUMENTS_LIMIT = 100;
const BEFORE_PROGRAM = /^(?:sudo|env|exec|command|nohup)$/;
/** `$(which cat)`: the path of a program stands for its name. */
const WHICH = /^(?:\$\(|`)\s*(?:which|command -v|type -[pP])\s+([\w./-]{1,64})\s*[)`]$/;
/** `$(echo .e)nv`: a text that the shell itself writes. */
const LITERAL =
  /^(?:\$\(|`)\s*(?:echo(?: -n)?|printf(?: ['"]?%s['"]?)?)\s+(?:'([^'"$`]*)'|"([^'"$`]*)"|([\w./=@-]+))\s*[)`]$/;
const WORKING_FOLDER = /^(?:\$\(|`)pwd[)`]$/;

/** Returns all simple commands; a command comes after those inside its substitutions and before the reader of its output. Adds assignments to `vars`. */
export function parseShell(text: string, vars: Variables, left: Allowance): SimpleCommand[] {
  left.characters -= text.length;
  const reader = new Reader(vars, left);
  if (left.characters < 0 || text.split("\n").some((line) => line.split("<<").length > HERE_DOCUMENTS_LIMIT)) {
    left.cut = true;
    return [];
  }
  try {
    reader.script(parse(text), {});
  } catch (error) {
    // unbash recurses: text made for it overflows the stack.
    if (!(error instanceof RangeError)) throw error;
    left.cut = true;
  }
  return reader.done;
}

class Reader {
  readonly done: SimpleCommand[] = [];
  readonly #vars: Variables;
  readonly #left: Allowance;
  #depth = 0;

  constructor(vars: Variables, left: Allowance) {
    this.#vars = vars;
    this.#left = left;
  }

  script(script: ParsedScript, sink: Sink): void {
    this.#left.broken ||= (script.errors ?? []).length > 0;
    this.#children(script, sink);
  }

  /** `head`: the command that a pipe writes to. A compound command is not added for it, so that what reaches it counts as shown. */
  #run(node: SyntaxNode, sink: Sink, head = createCommand()): void {
    if (!this.#spend()) return;
    switch (node.type) {
      case "Command":
        this.#command(node, sink, head);
        break;
      case "Pipeline":
        this.#pipeline(node, sink);
        break;
      case "Redirected":
        this.#redirected(node, sink);
        break;
      case "For":
      case "Select":
        this.#list(node.name.value, node.wordlist ?? []);
        this.#run(node.body, sink);
        break;
      case "While":
        this.#reads(node.clause, head);
        this.#children(node, sink);
        break;
      case "TestCommand":
        head.words.push(toWord("[["));
        this.#test(node.expression, head);
        this.#finish(head, sink);
        break;
      case "CommandExpansion":
      case "ArithmeticCommandExpansion":
        this.#substitution(node, {});
        break;
      case "Function":
      case "Coproc":
        this.#children(node, {});
        break;
      default:
        this.#children(node, sink);
    }
  }

  #children(node: SyntaxNode, sink: Sink): void {
    forEachChild(node, (child) => {
      this.#run(child, sink);
    });
  }

  /** `while read A; do …; done < b`: the loop assigns the lines of its input. */
  #reads(clause: CompoundList, head: SimpleCommand): void {
    let first: SyntaxNode | undefined = clause.commands[0]?.command;
    if (first?.type === "AndOr") first = first.commands[0];
    if (first?.type !== "Command" || first.name?.value !== "read") return;
    head.words.push(
      ...[first.name, ...first.args].flatMap((word) => (word.type === "Word" ? [toWord(word.value)] : [])),
    );
    this.#finish(head, {});
  }

  #pipeline({ commands }: Pipeline, sink: Sink): void {
    const heads = commands.map(createCommand);
    for (const [n, one] of commands.entries()) {
      const pipe = heads[n + 1];
      this.#run(one, pipe ? { pipe } : sink, heads[n]);
    }
  }

  /** `{ cat a; } > b`, `done < a` */
  #redirected({ command: inner, redirects }: Redirected, sink: Sink): void {
    const command = createCommand();
    for (const one of redirects) this.#redirect(one, command);
    const { out, aside } = command;
    this.#run(inner, out ? { out } : aside ? { aside } : sink, command);
    if (command.words.length === 0) this.#finish(command, sink);
  }

  #command({ prefix, name, suffix }: Command, sink: Sink, command: SimpleCommand): void {
    for (const part of [...prefix, ...(name ? [name] : []), ...suffix]) {
      if (part.type === "Word") command.words.push(this.#word(part, command));
      else if (part.type !== "Assignment") this.#redirect(part, command);
      else if (name?.value === "alias") command.words.push(this.#alias(part, command));
      else this.#assign(part, command);
    }
    this.#finish(command, sink, command.out !== undefined);
  }

  /** `empties`: its output goes to a file of its own, which is emptied even without a program. */
  #finish(command: SimpleCommand, sink: Sink, empties = false): void {
    if (!command.out) Object.assign(command, sink);
    const { words, input, sets } = command;
    if (words.length + input.length > 0 || empties || sets.some(({ open }) => open)) this.done.push(command);
  }

  #alias({ name, value }: Assignment, command: SimpleCommand): Word {
    const word = value.type === "Word" ? this.#word(value, command) : toWord("");
    word.text = `${name}=${word.text}`;
    return word;
  }

  #assign({ name, value, append }: Assignment, command: SimpleCommand): void {
    this.#set(name, value.type === "Word" ? [value] : value.elements, command);
    if (append) this.#vars.delete(name);
  }

  /** `for A in x y` */
  #list(name: string, values: readonly WordNode[]): void {
    const command = createCommand();
    this.#set(name, values, command);
    this.#finish(command, {});
  }

  /** Several values become the pattern `{x,y}`. */
  #set(name: string, values: readonly WordNode[], command: SimpleCommand): void {
    const words = values.map((value) => this.#word(value, command));
    for (const word of words) command.sets.push(Object.assign(word, { sets: name }));
    const [first] = words;
    const single = words.length === 1;
    const text = single ? (first?.text ?? "") : `{${words.map((word) => word.text).join()}}`;
    const isKnown = words.every((word) => !word.open && (single || !/[{},]/.test(word.text)));
    if (!first || !isKnown || text.length > WORD_LIMIT) this.#vars.delete(name);
    else this.#vars.set(name, { text, pattern: single ? first.pattern : true });
  }

  #redirect(node: Redirection, command: SimpleCommand): void {
    if (node.type === "HereDoc") {
      const { parts, text } = node.body;
      if (parts) this.#fill(this.#joined(parts, command), command);
      else command.bodies.push(node.delimiter?.quoted ? text : text.replace(/\\([$`\\])/g, "$1"));
      return;
    }
    if (!node.target) return;
    const word = this.#word(node.target, command);
    if (node.type === "HereString") {
      this.#fill(word, command);
      return;
    }
    const { operator, descriptor } = node;
    const isOutput = descriptor === undefined || (descriptor.type === "FileDescriptor" && descriptor.value === 1);
    if (operator === "<" || operator === "<>") command.input.push(word);
    else if (operator !== "<&" && isOutput && word.text !== "-")
      command.out = {
        ...word,
        ...(operator === ">&" && /^\d+$/.test(word.text) && { text: `/dev/fd/${word.text}` }),
        ...(operator.endsWith(">>") && { appends: true as const }),
      };
  }

  #fill(word: Word, command: SimpleCommand): void {
    command.bodies.push(word.text);
    if (word.names) command.filled.push(word);
  }

  #test(node: SyntaxNode, command: SimpleCommand): void {
    if (node.type === "TestUnary") command.words.push(toWord(node.operator));
    forEachChild(node, (child) => {
      if (child.type === "Word") command.words.push(this.#word(child, command));
      else this.#test(child, command);
    });
  }

  #word({ parts, value }: WordNode, command: SimpleCommand): Word {
    if (!this.#spend()) return toWord("");
    return parts ? this.#joined(parts, command) : toWord(value);
  }

  #joined(parts: readonly WordPart[], command: SimpleCommand): Word {
    const word = toWord("");
    for (const part of parts) this.#add(part, word, command);
    return word;
  }

  #add(part: WordPart, word: Word, command: SimpleCommand): void {
    if (!this.#spend()) return;
    switch (part.type) {
      case "Literal":
      case "SingleQuoted":
      case "AnsiCQuoted":
        word.text += part.value;
        break;
      case "DoubleQuoted":
      case "LocaleString":
        for (const one of part.parts) this.#add(one, word, command);
        break;
      case "Glob":
        word.text += part.text;
        word.pattern = true;
        break;
      case "BraceExpansion": {
        const inner = part.parts ? this.#joined(part.parts, command) : undefined;
        word.text += inner ? `{${inner.text}}` : part.text;
        word.open ||= inner?.open ?? false;
        word.pattern = true;
        break;
      }
      case "SimpleExpansion":
        this.#variable(part.text.slice(1), word);
        break;
      case "ParameterExpansion":
        this.#parameter(part, word, command);
        break;
      case "CommandExpansion":
        this.#output(part, word, command);
        break;
      case "ProcessSubstitution":
        this.#process(part, command);
        break;
      case "ArithmeticExpansion":
      case "ExtendedGlob":
        word.open = true;
        this.#inside(part, word, command);
        break;
    }
  }

  #variable(name: string, word: Word): void {
    const value = this.#vars.get(name);
    if (value) {
      word.text += value.text;
      word.pattern ||= value.pattern;
      this.#left.characters -= value.text.length;
    } else {
      word.open = true;
      this.#name(name, word);
    }
  }

  #name(name: string, word: Word): void {
    word.names ??= [];
    if (/^[A-Za-z_]/.test(name) && word.names.length < NAMES_LIMIT) word.names.push(name);
  }

  #parameter(part: ParameterExpansionPart, word: Word, command: SimpleCommand): void {
    const { parameter, prefix, index, operation } = part;
    if (!prefix && !operation && (!index || /^[@*]$/.test(index.value))) {
      this.#variable(parameter, word);
      return;
    }
    word.open = true;
    // `${#A}` and `${A:+x}` print nothing of the value.
    if (prefix !== "#" && !(operation?.type === "Default" && operation.operator.endsWith("+")))
      this.#name(parameter, word);
    this.#inside(part, word, command);
  }

  #output(part: CommandExpansionPart, word: Word, command: SimpleCommand): void {
    const text = part.text.length > 100 ? "" : part.text;
    const [, program] = WHICH.exec(text) ?? [];
    const isProgram = word.text === "" && command.words.every((before) => BEFORE_PROGRAM.test(before.text));
    const [, single, double, bare] = LITERAL.exec(text) ?? [];
    const literal = single ?? double ?? bare;
    if (WORKING_FOLDER.test(text)) this.#variable("PWD", word);
    else if (literal !== undefined) word.text += resolveEscapes(literal);
    else if (program && isProgram) word.text = program;
    else {
      word.open = true;
      this.#substitution(part, { into: { command, word, file: false } });
    }
  }

  #process(part: ProcessSubstitutionPart, command: SimpleCommand): void {
    const reads = part.operator === "<";
    if (!reads) command.aside = true;
    this.#substitution(part, reads ? { into: { command, word: toWord(""), file: true } } : {});
  }

  #substitution(part: { text: string; script: ParsedScript | undefined }, sink: Sink): void {
    this.#left.characters -= part.text.length;
    this.#left.cut ||= this.#left.characters < 0 || this.#depth === DEPTH;
    if (this.#left.characters < 0 || this.#depth === DEPTH) return;
    this.#depth++;
    // unbash parses the text of a substitution when `script` is read.
    if (part.script) this.script(part.script, sink);
    this.#depth--;
  }

  /** Substitutions and variables in an expression whose value is unknown. */
  #inside(node: SyntaxNode, word: Word, command: SimpleCommand): void {
    // unbash parses an expression when it is read.
    if (node.type === "ArithmeticExpansion" || node.type === "ParameterExpansion")
      this.#left.characters -= node.text.length;
    if (!this.#spend()) return;
    if (node.type === "CommandExpansion" || node.type === "ArithmeticCommandExpansion")
      this.#substitution(node, { into: { command, word, file: false } });
    else if (node.type === "ProcessSubstitution") this.#process(node, command);
    else {
      if (node.type === "SimpleExpansion") this.#name(node.text.slice(1), word);
      forEachChild(node, (child) => {
        this.#inside(child, word, command);
      });
    }
  }

  #spend(): boolean {
    if (this.#left.steps-- > 0 && this.#left.characters >= 0) return true;
    this.#left.cut = true;
    return false;
  }
}
