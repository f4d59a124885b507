/** Words of feedback. */
export const en = {
  feedbackIntro: "Write what is good, bad or missing. It is kept in a file on this machine.",
  message: "What do you want to say?",
  feedbackKind: "It is about",
  "about.bug": "something wrong",
  "about.idea": "an idea",
  "about.praise": "something good",
  email: "E-mail for an answer",
  optional: "optional",
  preview: "Exactly this",
  previewTo: "To {relay}, when you send it:",
  previewNone: "Nothing leaves: no relay is configured. One would get exactly this; the file keeps it with the time.",
  send: "Save and send",
  keep: "Save",
  sent: "Saved and sent",
  kept: "Saved on this machine",
  keptWhy: "Saved on this machine. {reason}.",
  waiting: "{n} earlier entry waits to be sent|{n} earlier entries wait to be sent",
};

export type FeedbackWords = Record<keyof typeof en, string>;
