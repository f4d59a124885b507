/** Which of several words no message has. */
import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { api } from "../../client.ts";
import { language } from "../../i18n/index.ts";
import { contentWords } from "./question.ts";
import { searchText } from "./words/index.ts";

/** Words that are looked for, and words that are named as those that no message has together. */
const MOST = 6;
const TOGETHER = 3;

/** No message has all words of `text`: with those that none has, where that is known. */
export function useNoneOfAll(text: () => string) {
  const words = () => contentWords(text());
  const found = useQuery({
    key: () => ["search", "missing", words()],
    enabled: () => words().length > 1,
    query: async ({ signal }) => {
      const all = words().slice(0, MOST);
      const has = await Promise.all(
        all.map(async (q) => (await api("GET /search", { query: { q, limit: 1 }, signal })).results.length > 0),
      );
      return all.filter((_, i) => !has[i]);
    },
  });
  const list = (type: "conjunction" | "disjunction", named: readonly string[]) =>
    new Intl.ListFormat(language.value, { type }).format(named.map((word) => searchText("search.word", { word })));
  return computed(() => {
    const all = words();
    const missing = found.data.value;
    if (missing === undefined || all.length < 2) return searchText("search.noneOfAll");
    if (missing.length > 0) return searchText("search.noneHas", { words: list("disjunction", missing) });
    // With the other words of a question none has them; without those one may.
    if (all.length > TOGETHER || all.length < text().trim().split(/\s+/).length) return searchText("search.noneOfAll");
    return searchText("search.noneTogether", { words: list("conjunction", all) });
  });
}
