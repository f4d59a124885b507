import type { NotesWords } from "./en.ts";

export const words: NotesWords = {
  notes: "ノート",
  "notes.none": "ノートはまだありません。セッションやメッセージのメニューから書けます。",
  "notes.noneFound": "一致するノートはありません。",
  "notes.edit": "ブックマーク・タグ・ノート…",
  "notes.of": "セッションのノート",
  "notes.ofMessage": "メッセージ {n} のノート",
  "notes.bookmark": "ブックマークする",
  "notes.bookmarked": "ブックマーク済み",
  "notes.tags": "タグ",
  "notes.tagsHint": "空白で区切る",
  "notes.note": "ノート",
  "notes.save": "保存",
  "notes.filter": "ノートを絞り込む",
  "notes.onlyBookmarks": "ブックマークのみ",
  "notes.message": "メッセージ {n}",
  "notes.gone": "メッセージはログにもうありません",
  "notes.notArchived": "セッションはアーカイブにありません",
  "notes.here": "このセッションのノート",
  "notes.saved": "保存しました",
};
