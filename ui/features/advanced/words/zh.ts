import type { AdvancedWords } from "./en.ts";

export const words: AdvancedWords = {
  chooseAdvanced: "显示什么",
  "view.rules": "密钥规则",
  "view.try": "试用工具",
  "view.calls": "中心的调用",
  "view.log": "中心的日志",
  "view.takeover": "接管与备份",
  "view.recall": "回忆",
};
