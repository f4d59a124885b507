import type { TracesWords } from "./en.ts";

export const words: TracesWords = {
  about: "这些会话的日志在导入之前已被删除，助手的提示词列表里还留有它们的提示词。",
  none: "没有只剩提示词的会话。",
  prompts: "{n} 条提示词|{n} 条提示词",
  more: "显示更多",
  commits: "当时的提交",
  forget: "删除这些提示词…",
  forgetTitle: "删除这些提示词",
  forgetText: "它们会从存档中永久删除，不再读取。助手自己的列表不变。",
  "days.title": "只有 {tools} 自己统计过的日子",
  "days.text":
    "{n} 天的日志在导入之前已被删除。以下是助手自己的数字，不计入上面的任何合计。|{n} 天的日志在导入之前已被删除。以下是助手自己的数字，不计入上面的任何合计。",
  "days.sessions": "共 {n} 个会话。|共 {n} 个会话。",
};
