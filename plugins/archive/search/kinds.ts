/** Kinds of messages, as a terminal and a query name them. */
import { EVENT_KINDS, type EventKind } from "sessarc";

export const toKindWord = (kind: string): string =>
  kind === "tool_use" ? "call" : kind === "tool_result" ? "result" : kind;

/** `call` and `tool_use` are the same. */
export const findKind = (word: string): EventKind | undefined =>
  EVENT_KINDS.find((kind) => kind === word || toKindWord(kind) === word);
