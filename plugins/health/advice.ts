/** What is said of a finding, and the one change that would have helped. */
import type { Finding, Waste } from "./health.ts";

/** Of one finding, in a table. */
export const NAMES: Readonly<Record<Finding["kind"], string>> = {
  loop: "same call again",
  retry: "failure repeated",
  reread: "file read again",
  undone: "edit undone",
  unread: "failure unread",
  unanswered: "no answer",
  failedLast: "last command failed",
  compaction: "compaction",
  nearLimit: "near its limit",
  wait: "long wait",
};

export const TITLES: Readonly<Record<Waste["kind"], string>> = {
  readEverywhere: "Files that many sessions read",
  failsFirst: "Tools whose first call fails",
  loop: "The same call again and again",
  retry: "Failed calls that were repeated unchanged",
  reread: "Files read again without a change",
  undone: "Edits that were undone",
  unread: "Failures that nothing followed",
  unanswered: "Sessions that ended without an answer",
  failedLast: "Sessions whose last command failed",
  compaction: "Compactions",
  nearLimit: "A context near its limit",
  wait: "Long waits",
};

export const ADVICE: Readonly<Record<Waste["kind"], string>> = {
  readEverywhere: "Put what they say into the project's instructions (AGENTS.md, CLAUDE.md).",
  failsFirst: "Say in the project's instructions how the tool is called here.",
  loop: "Name the goal and when to stop; give the command's result in the prompt.",
  retry: "Say in the instructions what makes the call fail, and what to do instead.",
  reread: "Ask for the part that is needed, or split the file.",
  undone: "Ask for a plan before edits.",
  unread: "Go on with the session, or look at the failure.",
  unanswered: "Resume the session and ask again.",
  failedLast: "Resume the session, or run the command again.",
  compaction: "Begin a new session for a new task; a full context is sent with each reply.",
  nearLimit: "Begin a new session, with a brief of this one: `sessarc handoff`.",
  wait: "Run long commands in the background, or on fewer files.",
};
