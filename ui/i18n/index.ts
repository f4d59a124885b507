/** How the dashboard says things: each feature's words are in its `words/`, what several features say is `en.ts` here. English comes with what says it, another language loads when it is chosen. */
import { computed, shallowRef, watch } from "vue";
import { type Language, settings } from "../state/settings.ts";
import { en } from "./en.ts";

export type { Key } from "./en.ts";

type Others<W> = Record<Exclude<Language, "en">, () => Promise<{ words: Record<keyof W, string> }>>;

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

const loading = new Set<Promise<void>>();

/** Resolves when the words of all features that were asked for are there: a screen shows itself then. Without those of a language English stands. */
export const wordsReady = async (): Promise<void> => {
  await Promise.all(loading);
};

/** `text("key", { n: 3 })` for these words: `{name}` is filled in; with `n`, the text before `|` is the singular. A word that a language lacks is a type error. */
export function toWords<W extends Record<string, string>>(en: W, others: Others<W>) {
  const words = shallowRef<Record<keyof W, string>>(en);
  watch(
    language,
    (tag) => {
      const load = async () => {
        const loaded = tag === "en" ? en : (await others[tag]()).words;
        if (language.value === tag) words.value = loaded;
      };
      const ready = load()
        .catch((error: unknown) => console.error(error))
        .finally(() => loading.delete(ready));
      loading.add(ready);
    },
    { immediate: true },
  );
  return (key: keyof W & string, values: Record<string, string | number> = {}) => fill(words.value[key], values);
}

/** Takes the form that `n` wants and fills in `{name}`. */
function fill(text: string, values: Record<string, string | number>): string {
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

export const t = toWords(en, { ja: () => import("./ja.ts"), "zh-CN": () => import("./zh.ts") });

watch(
  language,
  (tag) => {
    document.documentElement.lang = tag;
  },
  { immediate: true },
);
