import { toWords } from "../../../i18n/index.ts";
import { en, type SynonymWords } from "./en.ts";

const own = toWords(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });
const isKnown = (id: string): id is keyof SynonymWords => Object.hasOwn(en, id);

/** Synonyms of a screen in the language shown, and in English, which people type in every language. */
export const toSynonyms = (id: string): string => (isKnown(id) ? `${own(id)}, ${en[id]}` : "");
