/** Nothing was found: what would be with less, a filter or a word, and what with more only where that finds nothing either. */

import { computed } from "vue";
import { type Kind, kindWord, toolLabel } from "../../components/base/tools.ts";
import { middle } from "../../format.ts";
import { t } from "../../i18n/index.ts";
import { useProjectNames } from "../../state/projects.ts";
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
/** Words of a question that say nothing of what is looked for. */
const EMPTY_WORDS = new Set(
  "a an the and or of in on at to for from with by as it its is are was were be been do does did done have has had can could should would will how what when where which who why whose that this these those there we i you he she they them our my your me us not no".split(
    " ",
  ),
);
const isEmptyWord = (word: string) => EMPTY_WORDS.has(word.toLowerCase().replace(/[?.,!]+$/, ""));
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
  return computed<Level[]>(() => {
    const active = filters.active.value;
    const typed = filters.q.value.match(/-?(?:[a-z]+:)?(?:"[^"]*"?|\S+)/g) ?? [];
    const words = typed.filter((word) => !isEmptyWord(word));
    const hasEmpty = words.length > 0 && words.length < typed.length;
    const meant = suggestion();
    const some = words.slice(0, MOST_WORDS);
    const levels: Level[] = [
      meant === undefined ? [] : [withWords(meant, searchText("search.meant", { q: middle(meant, SHOWN) }))],
      [
        ...active.map((name) => withoutFilters([name], t("nothing.without", { name: called(name) }))),
        ...(hasEmpty ? [only(words.join(" "))] : []),
      ],
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
    return levels.filter((level) => level.length > 0);
  });
}
