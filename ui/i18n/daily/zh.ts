import type { DailyWords } from "./en.ts";

export const words: DailyWords = {
  windows: "套餐的用量窗口",
  "windows.text": "上一个窗口结束后的第一条回复会开启新窗口。限额用量来自服务商的报告，不作任何推测。",
  "windows.length": "窗口长度",
  "windows.hours": "5 小时",
  "windows.week": "7 天",
  "windows.none": "此范围内没有用量。",
  "windows.start": "窗口",
  "windows.until": "结束",
  "windows.tool": "助手",
  "windows.tokens": "Token",
  "windows.cost": "费用",
  "windows.rate": "每小时费用",
  "windows.limit": "限额已用",
  "windows.running": "进行中",
  "windows.left": "还剩 {time}",
  "windows.atEnd": "照此速度，结束时为 {cost}",
  "windows.used": "限额已用 {percent}",
  "windows.usedAt": "服务商报告于 {time}",
  "windows.all": "所有窗口",
};
