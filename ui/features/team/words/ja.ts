import type { TeamWords } from "./en.ts";

export const words: TeamWords = {
  onServer: "うち {n} 件のセッションはチームのサーバー {address} にもあります。",
  withdraw: "先にサーバーから取り下げる（チーム全員から見えなくなります）",
  stays: "取り下げない場合、チームのコピーは残ります。後で `sessarc team withdraw` で取り下げられます。",
};
