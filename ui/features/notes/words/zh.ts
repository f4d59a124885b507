import type { NotesWords } from "./en.ts";

export const words: NotesWords = {
  notes: "笔记",
  "notes.none": "尚无笔记。可在会话或消息的菜单中添加。",
  "notes.noneFound": "没有匹配的笔记。",
  "notes.edit": "书签、标签或笔记…",
  "notes.of": "会话笔记",
  "notes.ofMessage": "消息 {n} 的笔记",
  "notes.bookmark": "加入书签",
  "notes.bookmarked": "已加书签",
  "notes.tags": "标签",
  "notes.tagsHint": "以空格分隔",
  "notes.note": "笔记",
  "notes.save": "保存",
  "notes.filter": "筛选笔记",
  "notes.onlyBookmarks": "仅书签",
  "notes.message": "消息 {n}",
  "notes.gone": "日志中已没有该消息",
  "notes.notArchived": "该会话不在存档中",
  "notes.here": "此会话的笔记",
  "notes.saved": "已保存",
};
