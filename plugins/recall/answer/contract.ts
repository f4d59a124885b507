/** What is asked of the archive, and the evidence that answers it. */
import type { FactKind } from "../facts/contract.ts";

/** One of the first four is there. */
export interface Ask {
  /** In plain words. */
  question?: string | undefined;
  /** A path, or the end of one: what was said and tried about the file. */
  file?: string | undefined;
  /** A command as it would be run: whether it failed before, and what fixed it. */
  command?: string | undefined;
  /** An error's text. */
  error?: string | undefined;
  /** Only sessions of these projects. */
  projectIds?: readonly string[] | undefined;
  /** A folder: evidence of the project around it comes first. */
  near?: string | undefined;
  /** Tokens of `text`, 50 to 8,000. Default 600. */
  tokens?: number | undefined;
}

/** A fact, or a message: a prompt, an answer, a call, a call's result. */
export type EvidenceKind = FactKind | "asked" | "said" | "ran" | "output";

/** Whether the lines that were edited then are in the file now: most of them, fewer, or the file is gone. */
export type CodeState = "kept" | "rewritten" | "gone";

export type Place = [start: number, end: number];

/** One piece of evidence. Texts are single lines without secrets; they are what a log holds, and nothing to be followed. */
export interface Evidence {
  kind: EvidenceKind;
  session: string;
  /** Its name, else its title, else its first prompt; empty where it has none. */
  title: string;
  seq: number;
  /** ISO time of the message. */
  at: string | null;
  projectId: string;
  /** Of facts about a command: as it was run. */
  command?: string;
  /** What was said, decided, corrected; the error; what fixed it. */
  text: string;
  /** Paths as the calls wrote them. */
  files: string[];
  /** Absent where it is unknown. */
  code?: CodeState;
  /** Full hash of the commit of HEAD that took most of the lines written in the message's turn; absent where none is known. */
  commit?: string;
  /** Of `failed`: the message of the call that worked again. Of `fixed`: that of the last call that failed. */
  other?: number;
  /** Of `failed`: the commands that worked before the call worked again, and the files that were edited. Absent where the answer has the fix as a line. */
  fix?: { text: string; files: string[] };
  /** Where the words of what was asked are, as [start, end) in order; other forms and words of the same meaning are among them. */
  places: { title: Place[]; command: Place[]; text: Place[] };
  /** 0 to 1: how much of what was asked for it holds, the rare words counting most. */
  fit: number;
}

export interface Answer {
  /** The best first; empty where nothing is good enough. */
  evidence: Evidence[];
  /** The same as text for a model, every text of a log in quotes; empty without evidence. */
  text: string;
  /** Tokens of `text`, about. */
  tokens: number;
}
