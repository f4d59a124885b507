import type { NotifyWords } from "./en.ts";

export const words: NotifyWords = {
  bell: "等待或结束时通知我",
  on: "只要仪表板页面开着，此会话等待您或结束时会通知您",
  off: "不再通知此会话",
  refused: "通知已被屏蔽。请在浏览器的网站设置中允许。",
  waits: "它在等您",
  ended: "会话已结束",
  title: "通知",
  hint: "按下实时会话的铃铛后，当回答完成且没有后续，或会话结束时，此浏览器会提示。仪表板页面开着即可，在后台也有效。",
  none: "没有关注的会话。",
  some: "已关注 {n} 个",
  allow: "允许通知",
  stop: "不再通知 {title}",
};
