import type { WhyWords } from "./en.ts";

export const words: WhyWords = {
  action: "この行の理由",
  how: "ファイル:行番号 を入力するか、コードを 1 行貼り付けます",
  hint: "矢印キーで行を選び、Enter で理由を表示します",
  chosen: "{n} 行目: {text}",
  files: "ファイル",
  models: "モデル",
  screens: "画面",
  "model.usage": "モデル別の使用量",
  "model.sessions": "このモデルを使ったセッション",
  "file.sessions": "このファイルに触れたセッション",
  "file.last": "最後に変更: {title}",
  sessions: "{n} セッション",
  open: "ファイルの {n} 行目を開く",
  gone: "最新のコミットにこの行はありません。",
  goneWriter: "書いたセッション:",
  outOfFile: "最新のコミットでは、このファイルは {n} 行です。",
  cost: "このプロンプトのコスト",
  noCost: "このプロンプトのコストはログにありません。",
  notCommitted: "最新のコミットにこの行はありません。",
  noted: "git ノートには {agent} とあります。",
};
