/** Nothing was found: what would be with less, a filter or a word, and what with more only where that finds nothing either. */

import { computed } from "vue";
import { type Kind, kindWord, toolLabel } from "../../components/base/tools.ts";
import { middle } from "../../format.ts";
import { t } from "../../i18n/index.ts";
import { useProjectNames } from "../../state/projects.ts";
import { contentWords } from "./question.ts";
import { type Facet, PARAMETER, type SearchQuery, type useSearchFilters } from "./search-filters.ts";
import { searchText } from "./words/index.ts";

export interface Relaxation {
  id: string;
  label: string;
  /** What is asked then. */
  query: Omit<SearchQuery, "sort">;
  apply(): void;
}
/** What is tried together; the next only where it finds nothing. */
export type Level = readonly Relaxation[];

const MOST_WORDS = 6;
/** Characters of words in a button. */
const SHOWN = 48;
const isKind = (value: string): value is Kind => value in kindWord;

/** `suggestion`: what was typed, as the archive spells it, which finds something. */
export function useRelaxations(filters: ReturnType<typeof useSearchFilters>, suggestion: () => string | undefined) {
  const names = useProjectNames();
  /** A filter's value as it is called on the screen. */
  function called(name: Facet): string {
    const { value } = filters[name];
    if (name === "errors") return searchText("facet.errors");
    if (name === "from" || name === "to") return `${t(`facet.${name}`)} ${value}`;
    if (name === "tool") return toolLabel(value);
    if (name === "kind" && isKind(value)) return t(kindWord[value]);
    return name === "project" ? (names.value.get(value) ?? value) : value;
  }
  function withoutFilters(gone: readonly Facet[], label: string): Relaxation {
    const { sort: _, ...query } = filters.query.value;
    for (const name of gone) delete query[PARAMETER[name]];
    return { id: gone.join(" "), label, query, apply: () => filters.clear(gone) };
  }
  function withWords(q: string, label: string): Relaxation {
    const { sort: _, ...query } = filters.query.value;
    const apply = () => {
      filters.q.value = q;
    };
    return { id: `words:${q}`, label, query: { ...query, q }, apply };
  }
  const only = (q: string) => withWords(q, searchText("search.only", { q: middle(q, SHOWN) }));
  /** The same words, spelt or written in another way. */
  const same = computed<Level[]>(() => {
    const q = filters.q.value.trim();
    const meant = suggestion();
    const unquoted = q.replace(/(^|\s)["“]([^"“”]*)["”]?/g, "$1$2").trim();
    const told = contentWords(q).join(" ");
    const levels = [
      meant === undefined ? [] : [withWords(meant, searchText("search.meant", { q: middle(meant, SHOWN) }))],
      unquoted === q || unquoted === "" ? [] : [withWords(unquoted, searchText("search.unquoted"))],
      told === q || told === "" ? [] : [only(told)],
    ];
    return levels.filter((level) => level.length > 0);
  });
  const levels = computed<Level[]>(() => {
    const active = filters.active.value;
    const words = contentWords(filters.q.value);
    const some = words.slice(0, MOST_WORDS);
    const less = [
      active.map((name) => withoutFilters([name], t("nothing.without", { name: called(name) }))),
      words.length < 3
        ? []
        : some.map((word, at) =>
            withWords(words.filter((_word, other) => other !== at).join(" "), t("nothing.without", { name: word })),
          ),
      words.length < 2 ? [] : some.map(only),
      [
        ...(active.length > 1 ? [withoutFilters(active, t("nothing.clearAll"))] : []),
        ...(active.length > 0 ? [withWords("", t("nothing.without", { name: middle(filters.q.value, SHOWN) }))] : []),
      ],
    ];
    return [...same.value, ...less.filter((level) => level.length > 0)];
  });
  return { same, levels };
}
