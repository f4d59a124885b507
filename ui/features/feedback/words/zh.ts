import type { FeedbackWords } from "./en.ts";

export const words: FeedbackWords = {
  feedbackIntro: "写下好的、不好的或缺少的。它保存在此机器的文件中。",
  message: "你想说什么？",
  feedbackKind: "关于",
  "about.bug": "出错的地方",
  "about.idea": "一个想法",
  "about.praise": "好的地方",
  email: "用于回复的邮箱",
  optional: "可选",
  preview: "正是这些",
  previewTo: "发送时发往 {relay}：",
  previewNone: "什么都不会离开：未配置中继。若有中继，得到的正是这些；文件会连同时间一起保存。",
  send: "保存并发送",
  keep: "保存",
  sent: "已保存并发送",
  kept: "已保存在此机器上",
  keptWhy: "已保存在此机器上。{reason}。",
  waiting: "{n} 条较早的内容等待发送",
};
