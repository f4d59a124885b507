import type { DailyWords } from "./en.ts";

export const words: DailyWords = {
  windows: "プランの利用枠",
  "windows.text":
    "前の枠が終わった後の最初の応答で新しい枠が始まります。上限の使用率は提供元が報告した値で、推測はしません。",
  "windows.length": "枠の長さ",
  "windows.hours": "5 時間",
  "windows.week": "7 日",
  "windows.none": "この期間の利用はありません。",
  "windows.start": "枠",
  "windows.until": "終了",
  "windows.tool": "アシスタント",
  "windows.tokens": "トークン",
  "windows.cost": "費用",
  "windows.rate": "1 時間あたりの費用",
  "windows.limit": "上限の使用率",
  "windows.running": "進行中",
  "windows.left": "残り {time}",
  "windows.atEnd": "このままなら終了時 {cost}",
  "windows.used": "上限の {percent} を使用",
  "windows.usedAt": "提供元の報告: {time}",
  "windows.all": "すべての枠",
};
