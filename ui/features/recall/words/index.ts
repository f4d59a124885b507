import { toWords } from "../../../i18n/index.ts";
import { en } from "./en.ts";

export const recallText = toWords(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
