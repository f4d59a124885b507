import type { WhyWords } from "./en.ts";

export const words: WhyWords = {
  action: "为何有这一行",
  how: "输入 文件:行号，或粘贴一行代码",
  hint: "用方向键选择行，按 Enter 查看由来",
  chosen: "第 {n} 行：{text}",
  files: "文件",
  models: "模型",
  screens: "页面",
  "model.usage": "按模型查看用量",
  "model.sessions": "使用此模型的会话",
  "file.sessions": "涉及此文件的会话",
  "file.last": "最近一次修改：{title}",
  sessions: "{n} 个会话",
  open: "在文件中打开第 {n} 行",
  gone: "最近的提交中没有这一行。",
  goneWriter: "写下它的会话：",
  outOfFile: "最近的提交中，此文件有 {n} 行。",
  cost: "此提问的费用",
  noCost: "日志中没有此提问的费用。",
  notCommitted: "最近的提交中没有这一行。",
  noted: "git 注释写明是 {agent}。",
};
