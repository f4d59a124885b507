import type { FeedbackWords } from "./en.ts";

export const words: FeedbackWords = {
  feedbackIntro: "良い点、悪い点、足りない点を書いてください。このマシンのファイルに保存されます。",
  message: "何を伝えますか？",
  feedbackKind: "種類",
  "about.bug": "不具合",
  "about.idea": "アイデア",
  "about.praise": "良かったこと",
  email: "返信用メール",
  optional: "任意",
  preview: "正確にこれだけ",
  previewTo: "送信すると {relay} へ:",
  previewNone:
    "何も外に出ません。中継先が設定されていません。設定されていれば正確にこれが送られ、ファイルには時刻とともに残ります。",
  send: "保存して送信",
  keep: "保存",
  sent: "保存して送信しました",
  kept: "このマシンに保存しました",
  keptWhy: "このマシンに保存しました。{reason}。",
  waiting: "以前の {n} 件が送信待ちです",
};
