import type { ToolsWords } from "./en.ts";

export const words: ToolsWords = {
  views: "工具的视图",
  secrets: "密钥",
  servers: "服务器",
  skills: "技能",
  advanced: "高级",
  chooseAdvanced: "显示什么",
  "view.rules": "密钥规则",
  "view.try": "试用工具",
  "view.calls": "中心的调用",
  "view.log": "中心的日志",
  "view.takeover": "接管与备份",
};
