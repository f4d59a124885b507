import type { SessionWords } from "./en.ts";

export const words: SessionWords = {
  resume: "再開するコマンドをコピー",
  logPath: "ログのパスをコピー",
  menu: "このメッセージからコピー",
  text: "テキストをコピー",
  command: "コマンドをコピー",
  code: "コードをコピー",
  codeOf: "コード {n} をコピー",
  result: "結果をコピー",
  link: "リンクをコピー",
  upToNext: "次までに {tokens} トークン",
  elsewhere: "プロンプト以外",
  "missing.log": "プロンプトごとの費用はログにありますが、ログがありません。",
  "missing.replies": "ログに個々の応答の費用がありません。",
  "missing.differs":
    "プロンプトごとの費用がこのセッションの合計と一致しません：ログが増えたか、応答が別の所で数えられています。",
};
