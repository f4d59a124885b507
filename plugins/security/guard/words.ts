/** What a shell line consists of. */

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

/** Stands for what was not looked at. */
export const UNKNOWN: SimpleCommand = { words: [], input: [], bodies: [], unknown: true };
