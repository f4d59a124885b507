import type { ToolsWords } from "./en.ts";

export const words: ToolsWords = {
  views: "ツールの表示",
  secrets: "秘密情報",
  servers: "サーバー",
  skills: "スキル",
  advanced: "詳細設定",
};
