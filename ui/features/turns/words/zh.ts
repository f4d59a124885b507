import type { TurnsWords } from "./en.ts";

export const words: TurnsWords = {
  bell: "等待或结束时通知我",
  on: "只要仪表板页面开着，此会话等待你或结束时会通知你",
  off: "不再通知此会话",
  refused: "通知已被屏蔽。请在浏览器的网站设置中允许。",
  waits: "它在等你",
  ended: "会话已结束",
};
