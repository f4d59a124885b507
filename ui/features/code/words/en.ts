/** Words of "Why this line", wherever a line is shown, and of what the palette and the search find of code. */
export const en = {
  action: "Why this line",
  how: "Type file:line or paste a line of code",
  hint: "Arrow keys choose a line, Enter shows why it exists",
  chosen: "Line {n}: {text}",
  files: "Files",
  models: "Models",
  screens: "Screens",
  "model.usage": "Usage by model",
  "model.sessions": "Sessions with this model",
  "file.sessions": "Sessions that touched this file",
  "file.last": "Changed last in {title}",
  sessions: "{n} session|{n} sessions",
  open: "Open line {n} in its file",
  gone: "The last commit does not contain this line.",
  goneWriter: "A session wrote it:",
  outOfFile: "The file has {n} line in the last commit.|The file has {n} lines in the last commit.",
  cost: "Cost of the prompt",
  noCost: "The log contains no cost of this prompt.",
  notCommitted: "No version of this line is in the last commit.",
  noted: "A git note names {agent}.",
};

export type WhyWords = Record<keyof typeof en, string>;
