import { wordsOf } from "../words.ts";
import { en } from "./en.ts";

export type NotifyWords = Record<keyof typeof en, string>;
export const n = wordsOf(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
