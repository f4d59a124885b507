/** The simple commands of a shell line and their words. */

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
  /** The only part of the named file that counts: the value of this variable, the lines of a filter (`selected`), or "" for the names of all variables. */
  part?: string;
  /** The program may have reordered or joined the lines of the file. */
  mixed?: true;
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

export const wordOf = (text: string): Word => ({ text, open: false, pattern: false });

export const emptyCommand = (): SimpleCommand => ({ words: [], input: [], bodies: [], filled: [], sets: [] });
