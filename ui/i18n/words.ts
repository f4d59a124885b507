/** Words of a screen that come with its code instead of the entry. */
import { shallowRef, watch } from "vue";
import type { Language } from "../state/settings.ts";
import { fill, language } from "./index.ts";

type Others<W> = Record<Exclude<Language, "en">, () => Promise<{ words: Record<keyof W, string> }>>;

const loading = new Set<Promise<void>>();

/** Resolves when the words of all screens that were asked for are there: a screen shows itself then. */
export const wordsReady = async (): Promise<void> => {
  await Promise.all(loading);
};

/** A `t` for these words. A word that a language lacks is a type error. */
export function toWords<W extends Record<string, string>>(en: W, others: Others<W>) {
  const words = shallowRef<Record<keyof W, string>>(en);
  watch(
    language,
    (tag) => {
      const load = async () => {
        const loaded = tag === "en" ? en : (await others[tag]()).words;
        if (language.value === tag) words.value = loaded;
      };
      const ready = load().finally(() => loading.delete(ready));
      loading.add(ready);
    },
    { immediate: true },
  );
  return (key: keyof W & string, values: Record<string, string | number> = {}) => fill(words.value[key], values);
}
