import type { AdvancedWords } from "./en.ts";

export const words: AdvancedWords = {
  chooseAdvanced: "表示する内容",
  "view.rules": "秘密情報のルール",
  "view.try": "ツールを試す",
  "view.calls": "ハブの呼び出し",
  "view.log": "ハブのログ",
  "view.takeover": "引き継ぎとバックアップ",
  "view.recall": "想起",
};
