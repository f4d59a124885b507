/** Nothing was found: everything that could be given up, one thing at a time, a filter or a word of the query. */

import { computed } from "vue";
import { type Kind, kindWord, toolLabel } from "../../components/base/tools.ts";
import { t } from "../../i18n/index.ts";
import { useProjectNames } from "../../state/projects.ts";
import { type Facet, PARAMETER, type SearchQuery, type useSearchFilters } from "./search-filters.ts";
import { searchText } from "./words/index.ts";

export interface Relaxation {
  id: string;
  label: string;
  /** What is asked then. */
  query: SearchQuery;
  apply(): void;
}
const MOST_WORDS = 6;
const isKind = (value: string): value is Kind => value in kindWord;

export function useRelaxations(filters: ReturnType<typeof useSearchFilters>) {
  const names = useProjectNames();
  /** A filter's value as it is called on the screen. */
  function called(name: Facet): string {
    const { value } = filters[name];
    if (name === "errors") return "";
    if (name === "tool") return toolLabel(value);
    if (name === "kind" && isKind(value)) return t(kindWord[value]);
    return name === "project" ? (names.value.get(value) ?? value) : value;
  }
  return computed<Relaxation[]>(() => {
    const { sort: _, ...asked } = filters.query.value;
    const active = filters.active.value;
    const words = filters.q.value.match(/-?(?:[a-z]+:)?(?:"[^"]*"?|\S+)/g) ?? [];
    const withoutFilter = active.map((name) => {
      const { [PARAMETER[name]]: _gone, ...query } = asked;
      const label = searchText("search.without", {
        name: name === "from" || name === "to" ? t(`facet.${name}`) : searchText(`facet.${name}`),
        value: called(name),
      });
      return { id: name, label, query, apply: () => filters.clear([name]) };
    });
    const withoutWord = words.slice(0, MOST_WORDS).flatMap((word, at) => {
      const q = words.filter((_word, other) => other !== at).join(" ");
      if (q === "" && active.length === 0) return [];
      const apply = () => {
        filters.q.value = q;
      };
      return [{ id: `word:${at}`, label: searchText("search.onlyWord", { word }), query: { ...asked, q }, apply }];
    });
    return [...withoutFilter, ...withoutWord];
  });
}
