/** All words of the dashboard. English comes with what says it (en.ts, en-pages.ts, en-more.ts); other languages load as a whole when chosen. */
import { computed, shallowRef } from "vue";
import { type Language, settings } from "../state/settings.ts";
import { en } from "./en.ts";
import type { Key, Words } from "./keys.ts";

export type { Key } from "./keys.ts";

const loaders: Record<Exclude<Language, "en">, () => Promise<{ words: Words }>> = {
  "zh-CN": () => import("./zh.ts"),
  ja: () => import("./ja.ts"),
};
const english: Partial<Words> = { ...en };
const words = shallowRef<Partial<Words>>(english);

/** Words of screens that are loaded later; before they are drawn. */
export function addEnglish(more: Partial<Words>): void {
  Object.assign(english, more);
}

export const LANGUAGES: Record<Language, string> = { en: "English", "zh-CN": "简体中文", ja: "日本語" };

/** The language shown: the chosen one, else the browser's when we have it. */
export const language = computed<Language>(() => settings.language ?? preferred());

/** Of ours, the one the browser asks for. */
export function preferred(): Language {
  for (const tag of navigator.languages) {
    if (tag.startsWith("zh")) return "zh-CN";
    if (tag.startsWith("ja")) return "ja";
    if (tag.startsWith("en")) return "en";
  }
  return "en";
}

/** Loads the words of the language and sets the page's `lang`. */
export async function loadLanguage(): Promise<void> {
  const tag = language.value;
  const wanted = tag === "en" ? english : (await loaders[tag]()).words;
  // Another was chosen meanwhile.
  if (tag !== language.value) return;
  words.value = wanted;
  document.documentElement.lang = tag;
}

/** `t("home.sessions", { n: 3 })`. `{name}` is filled in; with `n`, the text before `|` is the singular. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return fill(words.value[key] ?? english[key] ?? key, values);
}

/** Takes the form that `n` wants and fills in `{name}`. */
export function fill(text: string, values: Record<string, string | number>): string {
  const forms = text.split("|");
  const form = (forms.length > 1 && values.n !== 1 && values.count !== 1 ? forms[1] : forms[0]) ?? text;
  return form.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : (value ?? "");
  });
}

const formatters = new Map<string, Intl.NumberFormat>();
/** A number as this language writes it. */
export function number(value: number, options: Intl.NumberFormatOptions = {}): string {
  const key = language.value + JSON.stringify(options);
  let format = formatters.get(key);
  if (!format) {
    format = new Intl.NumberFormat(language.value, options);
    formatters.set(key, format);
  }
  return format.format(value);
}
