import type { ToolsWords } from "./en.ts";

export const words: ToolsWords = {
  views: "工具的视图",
  secrets: "密钥",
  servers: "服务器",
  skills: "技能",
  advanced: "高级",
};
