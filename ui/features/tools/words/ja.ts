import type { ToolsWords } from "./en.ts";

export const words: ToolsWords = {
  views: "ツールの表示",
  secrets: "秘密情報",
  servers: "サーバー",
  skills: "スキル",
  advanced: "詳細設定",
  chooseAdvanced: "表示する内容",
  "view.rules": "秘密情報のルール",
  "view.try": "ツールを試す",
  "view.calls": "ハブの呼び出し",
  "view.log": "ハブのログ",
  "view.takeover": "引き継ぎとバックアップ",
};
