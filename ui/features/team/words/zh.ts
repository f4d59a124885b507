import type { TeamWords } from "./en.ts";

export const words: TeamWords = {
  onServer: "其中 {n} 个会话也在团队服务器 {address} 上。",
  withdraw: "先从服务器上撤回，团队中所有人都不再看到",
  stays: "否则团队保留其副本；之后可用 `sessarc team withdraw` 撤回。",
};
