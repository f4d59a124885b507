/** The simple commands of a shell line and their words. */
import type { Part } from "./part.ts";

export interface Word {
  text: string;
  /** Contains an expansion whose value only the shell knows. */
  open: boolean;
  /** Contains unquoted `*`, `?`, `[` or `{`. */
  pattern: boolean;
  /** Variables in it whose values are unknown here. */
  names?: string[];
  /** The variable that gets this value. */
  sets?: string;
  /** As a target of output: what is there stays, `>>`. */
  appends?: true;
  /** The only part of the named file that counts. */
  part?: Part;
  /** The word names a folder, whose files are shown. */
  below?: Below;
  /** The program may have reordered or joined the lines of the file. */
  mixed?: true;
}

/** Which files below a folder a program shows. Read are those whose names are of files with secrets. */
export interface Below {
  /** Patterns, one of which a name fits; none if every name does. */
  names: readonly string[];
  /** Patterns of names that are left out. */
  not?: readonly string[];
  /** An expression for names, as `fd` takes it. */
  expression?: string;
  /** Names that begin with a dot are left out. */
  plain?: boolean;
  /** Files that `.gitignore` names are left out. */
  ignores?: boolean;
  /** The program searches for tokens, so that files of any name are read. */
  tokens?: boolean;
}

export interface SimpleCommand {
  words: Word[];
  /** Files on its stdin. */
  input: Word[];
  /** Here-documents and here-strings. */
  bodies: string[];
  /** Those of them that contain variables. */
  filled: Word[];
  /** Values it assigns to variables. */
  sets: Word[];
  /** The file its output goes to, also `/dev/fd/2`. */
  out?: Word;
  /** The command that reads its output. */
  pipe?: SimpleCommand;
  /** The command whose word its output becomes, or (`file`) whose file. */
  into?: { command: SimpleCommand; word: Word; file: boolean };
  /** Another command reads its output as well: `>(cat)`. */
  aside?: true;
}

/** Variables of a shell line whose values are known. */
export type Variables = Map<string, Pick<Word, "text" | "pattern">>;

/** Longest name of a file, and longest value of a variable; `A=$A$A` repeated would grow without end. */
export const WORD_LIMIT = 4096;

export const toWord = (text: string): Word => ({ text, open: false, pattern: false });

export const createCommand = (): SimpleCommand => ({ words: [], input: [], bodies: [], filled: [], sets: [] });

/** `\n`, `\143`, `\x63` as `printf` and `echo -e` read them. */
export const resolveEscapes = (text: string): string =>
  text.replace(
    /\\(?:x([0-9a-fA-F]{1,2})|0?([0-7]{1,3})|([nt\\]))/g,
    (_, hex?: string, octal?: string, letter?: string) => {
      if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
      if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
      return letter === "n" ? "\n" : letter === "t" ? "\t" : "\\";
    },
  );

/** `/usr/bin/Cat` → `cat`; also after `!`, with which users run a command in some assistants. */
export const readProgram = (text: string): string =>
  text.slice(Math.max(text.lastIndexOf("/") + 1, Number(text.startsWith("!")))).toLowerCase();

/** The words after an option. */
export const wordsAfter = (words: readonly Word[], option: RegExp): Word[] =>
  words.filter((_, n) => option.test(words[n - 1]?.text ?? ""));
