/** What a shell line consists of. */

export interface Word {
  text: string;
  /** Holds an expansion whose value only the shell will know. */
  open: boolean;
  /** Holds unquoted `*`, `?`, `[` or `{`. */
  pattern: boolean;
  /** Variables whose values it holds, and nobody knows here. */
  names?: string[];
  /** The variable whose value it is. */
  sets?: string;
  /** Of the file it names only this: the value of a variable, or with "" the names of all. */
  part?: string;
  /** What is there of the file need not be its lines. */
  mixed?: true;
}

export interface SimpleCommand {
  words: Word[];
  /** Files it gets on stdin. */
  input: Word[];
  /** Here-documents and here-strings. */
  bodies: string[];
  /** Those of them that hold variables. */
  filled: Word[];
  /** Values given to variables. */
  sets: Word[];
  /** Where its output goes: a file, also `/dev/fd/2`. */
  out?: Word;
  /** Who gets its output. */
  pipe?: SimpleCommand;
  /** Whose word its output becomes, or (`file`) whose file. */
  into?: { command: SimpleCommand; word: Word; file: boolean };
  /** Commands beside it get what it writes: `>(cat)`. */
  aside?: true;
  /** Stands for commands that were not looked at: nested too deep, or too many. */
  unknown?: true;
}

export const emptyWord = (): Word => ({ text: "", open: false, pattern: false });

export const emptyCommand = (): SimpleCommand => ({ words: [], input: [], bodies: [], filled: [], sets: [] });

/** Stands for what was not looked at. */
export const unknownCommand = (): SimpleCommand => ({ ...emptyCommand(), unknown: true });
