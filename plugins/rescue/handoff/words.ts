/** Headings of a brief in the language its prompts are written in. */

interface Words {
  title: string;
  task: string;
  goal: string;
  latest: string;
  stopped: string;
  files: string;
  reads: string;
  failing: string;
  todos: string;
  decisions: string;
  branch: string;
  /** State of a file: as committed, changed since, unknown to git, gone. */
  states: Readonly<Record<FileState, string>>;
}
export type FileState = "committed" | "changed" | "untracked" | "gone" | "unknown";

const EN: Words = {
  title: "Continue this work",
  task: "Another assistant worked on this. Go on from here; check the files before you change them.",
  goal: "Goal",
  latest: "Latest request",
  stopped: "Where it stopped",
  files: "Files it changed",
  reads: "What led to the changes",
  failing: "Last failing command",
  todos: "Open to-dos",
  decisions: "Decisions",
  branch: "Branch",
  states: {
    committed: "as in the last commit",
    changed: "changed since the last commit",
    untracked: "not in git",
    gone: "not there any more",
    unknown: "state unknown",
  },
};

const DE: Words = {
  title: "Diese Arbeit fortsetzen",
  task: "Ein anderer Assistent hat daran gearbeitet. Mach hier weiter; prüfe die Dateien, bevor du sie änderst.",
  goal: "Ziel",
  latest: "Letzter Auftrag",
  stopped: "Stand",
  files: "Geänderte Dateien",
  reads: "Was zu den Änderungen führte",
  failing: "Letzter fehlgeschlagener Befehl",
  todos: "Offene Aufgaben",
  decisions: "Entscheidungen",
  branch: "Branch",
  states: {
    committed: "wie im letzten Commit",
    changed: "seit dem letzten Commit geändert",
    untracked: "nicht in git",
    gone: "nicht mehr vorhanden",
    unknown: "Stand unbekannt",
  },
};

const JA: Words = {
  title: "この作業を続ける",
  task: "別のアシスタントが進めていた作業です。ここから続けてください。変更する前にファイルを確認してください。",
  goal: "目的",
  latest: "最新の依頼",
  stopped: "中断した時点",
  files: "変更したファイル",
  reads: "変更のきっかけ",
  failing: "最後に失敗したコマンド",
  todos: "残りのタスク",
  decisions: "決定事項",
  branch: "ブランチ",
  states: {
    committed: "最後のコミットと同じ",
    changed: "最後のコミット以降に変更",
    untracked: "git にない",
    gone: "もうない",
    unknown: "状態不明",
  },
};

const ZH: Words = {
  title: "继续这项工作",
  task: "另一个助手做过这项工作。请从这里继续；修改文件之前先检查它们。",
  goal: "目标",
  latest: "最新请求",
  stopped: "停在哪里",
  files: "修改过的文件",
  reads: "修改的依据",
  failing: "最后失败的命令",
  todos: "未完成的待办",
  decisions: "决定",
  branch: "分支",
  states: {
    committed: "与最后一次提交相同",
    changed: "最后一次提交之后有改动",
    untracked: "不在 git 中",
    gone: "已不存在",
    unknown: "状态未知",
  },
};

const GERMAN = /\b(und|nicht|bitte|der|die|das|ist|mit|auf|eine?n?|für|dass|soll|kannst|mach)\b/gi;
const ENGLISH = /\b(and|not|please|the|is|with|on|an?|for|that|should|can|make)\b/gi;

/** By script, else by the small words of German and English; any other language gets English headings. */
export function wordsFor(text: string): Words {
  if (/[\u3040-\u30ff]/.test(text)) return JA;
  if (/[\u4e00-\u9fff]/.test(text)) return ZH;
  const count = (words: RegExp) => text.match(words)?.length ?? 0;
  return count(GERMAN) > count(ENGLISH) ? DE : EN;
}
