/** Words of what is needed rarely in Tools. */
export const en = {
  chooseAdvanced: "What to show",
  "view.rules": "Rules for secrets",
  "view.try": "Try a tool",
  "view.calls": "Hub calls",
  "view.log": "Hub log",
  "view.takeover": "Take over and backups",
  "view.recall": "Recall",
};

export type AdvancedWords = Record<keyof typeof en, string>;
