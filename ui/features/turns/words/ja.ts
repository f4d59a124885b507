import type { TurnsWords } from "./en.ts";

export const words: TurnsWords = {
  bell: "待機または終了したら通知",
  on: "このセッションが返答を待つか終了すると通知します（ダッシュボードのページが開いている間）",
  off: "このセッションの通知を止めました",
  refused: "通知がブロックされています。ブラウザーのサイト設定で許可してください。",
  waits: "返答を待っています",
  ended: "セッションが終了しました",
};
