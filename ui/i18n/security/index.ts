import { wordsOf } from "../words.ts";
import { en } from "./en.ts";

export type SecurityWords = Record<keyof typeof en, string>;
export const x = wordsOf(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
