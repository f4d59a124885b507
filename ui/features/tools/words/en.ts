/** Words of the place Tools itself. */
export const en = {
  views: "Views of Tools",
  secrets: "Secrets",
  servers: "Servers",
  skills: "Skills",
  advanced: "Advanced",
  chooseAdvanced: "What to show",
  "view.rules": "Rules for secrets",
  "view.try": "Try a tool",
  "view.calls": "Hub calls",
  "view.log": "Hub log",
  "view.takeover": "Take over and backups",
};

export type ToolsWords = Record<keyof typeof en, string>;
