import { wordsOf } from "../words.ts";
import { en } from "./en.ts";

export type SessionsWords = Record<keyof typeof en, string>;
export const s = wordsOf(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
