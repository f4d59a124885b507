import { toWords } from "../../../i18n/index.ts";
import { en } from "./en.ts";

export const instructionsText = toWords(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
