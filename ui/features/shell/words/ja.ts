import type { ShellWords } from "./en.ts";

export const words: ShellWords = {
  "shell.nav": "メイン",
  "shell.home": "sessarc ホーム",
  "nav.commands": "コマンド",
  "shell.menu": "その他",
  "tools.leaks": "未対応のシークレット {n} 件",
  "sync.last": "同期: {ago}",
  "sync.inSync": "同期済み",
  "sync.checked": "最終確認: {ago}",
  "sync.checkedAt": "最終確認",
  "sync.running": "取り込み中 {share}",
  "sync.scanning": "スキャン中…",
  "sync.unreachable": "接続できません",
  "connection.lost": "再接続中",
  "connection.now": "今すぐ試す",
  "connection.hint": "サービスが応答しません。表示中の内容はそのまま残ります。",
  "connection.back": "再接続しました",
  "sync.hint": "変更分を取り込む",
  "shell.screenLost": "サービスが応答するとこの画面が開きます:",
  "shell.screenFailed": "この画面を読み込めませんでした:",
};
