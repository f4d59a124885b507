import type { SessionWords } from "./en.ts";

export const words: SessionWords = {
  resume: "复制继续会话的命令",
  logPath: "复制日志路径",
  menu: "从此消息复制",
  text: "复制文本",
  command: "复制命令",
  code: "复制代码",
  codeOf: "复制代码 {n}",
  result: "复制结果",
  link: "复制链接",
  upToNext: "到下一条为止 {tokens} 个令牌",
  elsewhere: "不属于任何提示",
  "missing.log": "每条提示的费用在日志中，而日志已不在。",
  "missing.replies": "日志没有记录单条回复的费用。",
  "missing.differs": "每条提示的费用与本会话总数不符：日志已增长，或部分回复计入了别处。",
};
