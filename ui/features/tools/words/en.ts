/** Words of the place Tools itself. */
export const en = {
  views: "Views of Tools",
  secrets: "Secrets",
  servers: "Servers",
  skills: "Skills",
  advanced: "Advanced",
};

export type ToolsWords = Record<keyof typeof en, string>;
