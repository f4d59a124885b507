/** What can be taken out of a session: words of its menus and of what prompts cost. */
export const en = {
  resume: "Copy the command to resume it",
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
  "missing.log": "The cost of each prompt is in the log, which is gone.",
  "missing.replies": "Its log does not say what single replies cost.",
  "missing.differs":
    "What each prompt cost does not add up to this session: its log grew, or replies of it count elsewhere.",
};

export type SessionWords = Record<keyof typeof en, string>;
