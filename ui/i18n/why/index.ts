import { wordsOf } from "../words.ts";
import { en } from "./en.ts";

export const whyText = wordsOf(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
