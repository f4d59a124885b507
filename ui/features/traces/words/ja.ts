import type { TracesWords } from "./en.ts";

export const words: TracesWords = {
  about:
    "これらのセッションのログは保存前に削除されました。プロンプトだけがアシスタントのプロンプト一覧に残っています。",
  none: "プロンプトだけが残っているセッションはありません。",
  prompts: "プロンプト {n} 件|プロンプト {n} 件",
  more: "さらに表示",
  commits: "その頃のコミット",
  forget: "これらのプロンプトを削除…",
  forgetTitle: "これらのプロンプトを削除",
  forgetText: "アーカイブから完全に削除され、再び読み込まれません。アシスタント側の一覧は変わりません。",
};
