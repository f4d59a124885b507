import { wordsOf } from "../words.ts";
import { en } from "./en.ts";

export type HubWords = Record<keyof typeof en, string>;
export const h = wordsOf(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
