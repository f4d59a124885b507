import { wordsOf } from "../words.ts";
import { en } from "./en.ts";

export const rescueText = wordsOf(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
