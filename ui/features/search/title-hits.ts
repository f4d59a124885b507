/** Sessions whose title or id has the words, beside those whose messages have them. */

import { useQuery } from "@pinia/colada";
import { computed, type Ref, ref, watch } from "vue";
import { api } from "../../client.ts";
import type { SearchAnswer } from "../../wire.ts";
import type { useSearchFilters } from "./search-filters.ts";

const FEW = 3;
const MANY = 100;

/** `results`: those found by their messages, which are not repeated; undefined until they are there. */
export function useTitleHits(
  { q, query }: ReturnType<typeof useSearchFilters>,
  results: Readonly<Ref<SearchAnswer["results"] | undefined>>,
) {
  const isLong = ref(false);
  watch(q, () => {
    isLong.value = false;
  });
  /** A title has no kinds of messages, no errors and no operators. */
  const asked = computed(() => {
    const { q: words, tool, project, kind, after, before, errors } = query.value;
    const text = words?.trim() ?? "";
    return text === "" || kind || errors || /"|(^|\s)(-|[a-z]+:)\S/i.test(text.replace(/^[\w-]+:[\w-]{8,}$/, ""))
      ? undefined
      : {
          q: text,
          ...(tool && { tool }),
          ...(project && { project }),
          ...(after && { after }),
          ...(before && { before }),
        };
  });
  const found = useQuery({
    key: () => ["search", "titles", asked.value ?? {}, isLong.value],
    enabled: () => asked.value !== undefined,
    query: ({ signal }) =>
      api("GET /sessions", { query: { ...asked.value, limit: isLong.value ? MANY : FEW }, signal }),
    placeholderData: (before) => before,
  });
  const answer = computed(() => (asked.value === undefined ? undefined : found.data.value));
  const sessions = computed(() => {
    if (results.value === undefined) return [];
    const known = new Set(results.value.map((one) => one.session.id));
    return (answer.value?.sessions ?? []).filter((one) => !known.has(one.id));
  });
  return {
    sessions,
    /** More than are shown. */
    hasMore: computed(() => !isLong.value && (answer.value?.total ?? 0) > FEW),
    showMore: () => {
      isLong.value = true;
    },
  };
}
