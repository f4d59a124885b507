/** What a recorded tool call does to files, in terms that no tool owns: what replay goes through again. */
import type { Json } from "../utils/json.ts";

/** A replacement of literal text. */
export interface TextEdit {
  /** Empty: the file is to be made, or is empty. */
  old: string;
  new: string;
  /** Every place; else there must be exactly one. */
  all?: boolean;
}

/** One effect of a tool call. Paths are as the call wrote them: absolute, or relative to the session's folder. */
export type ToolAction =
  | { do: "write"; path: string; text: string }
  | { do: "edit"; path: string; edits: TextEdit[] }
  /** After line `line`, 0 for the beginning. */
  | { do: "insert"; path: string; line: number; text: string }
  /** The `*** Begin Patch` format, or a unified diff. */
  | { do: "patch"; text: string }
  | { do: "delete"; path: string }
  | { do: "move"; from: string; to: string }
  /** A text for the shell, or the words of a program and its arguments. */
  | { do: "command"; command: string | readonly string[]; cwd?: string }
  /** It changed something that the log does not hold. */
  | { do: "unknown"; path?: string; reason: string };

/** A tool call as the archive keeps it. */
export interface RecordedCall {
  name: string;
  input: Json | undefined;
}

/** What the result of a read showed of a file. */
export interface RecordedRead {
  path: string;
  /** The whole file as it was; line ends may have been lost. */
  text: string;
}
