/** What can be taken out of a session: words of its menus and of what prompts cost. */
export const en = {
  resume: "Copy the command to resume it",
  handoff: "Copy a brief for another assistant",
  logPath: "Copy the path of its log",
  menu: "Copy from this message",
  text: "Copy text",
  command: "Copy command",
  code: "Copy code",
  codeOf: "Copy code {n}",
  result: "Copy result",
  link: "Copy link",
  upToNext: "{tokens} tokens up to the next one",
  elsewhere: "Not at a prompt",
  beside: "Beside the messages",
  loggedCost: "Cost stated by the assistant",
  unlogged: "Tokens in no message",
  refused: "Tokens and cost are not counted: the adapter reported {reason}.",
  continuedIn: "Continued in",
  derivedFrom: "Derived from",
  pullRequest: "Pull request",
  relocated: "Moved to",
  worktree: "Worktree",
  branch: "branch {name}",
  tags: "Tags in the assistant",
  notArchived: "not in the archive",
  "missing.log": "The cost of each prompt is in the log, which is gone.",
  "missing.replies": "Its log does not say what single replies cost.",
  "missing.differs":
    "What each prompt cost does not add up to this session: its log grew, or replies of it count elsewhere.",
};

export type SessionWords = Record<keyof typeof en, string>;
