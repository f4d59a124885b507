/** What is searched for, by what filters and in which order: all of it in the address. */
import { computed } from "vue";
import type { QueryOf } from "../../client.ts";
import { KINDS } from "../../components/base/tools.ts";
import { dayStart } from "../../format.ts";
import { useQueryState, useWriteQuery } from "../../state/query-state.ts";

const FACETS = ["tool", "project", "kind", "from", "to", "errors"] as const;
export type Facet = (typeof FACETS)[number];
export type SearchQuery = Omit<NonNullable<QueryOf<"GET /search">>, "limit" | "cursor">;
/** As the service calls them. */
export const PARAMETER = {
  tool: "tool",
  project: "project",
  kind: "kind",
  from: "after",
  to: "before",
  errors: "errors",
} as const satisfies Record<Facet, keyof SearchQuery>;

/** Kinds of messages; the list of sessions calls its kinds of sessions by the same parameter. */
const isKind = (value: string) => KINDS.some((one) => one === value);

function useKind() {
  const kind = useQueryState("kind", "");
  return computed({
    get: () => (isKind(kind.value) ? kind.value : ""),
    set: (value) => {
      kind.value = value;
    },
  });
}

export const useFacets = () => ({
  tool: useQueryState("tool", ""),
  project: useQueryState("project", ""),
  kind: useKind(),
  from: useQueryState("from", ""),
  to: useQueryState("to", ""),
  errors: useQueryState("errors", ""),
});

export function useSearchFilters() {
  const write = useWriteQuery();
  const facets = useFacets();
  const q = useQueryState("q", "", { replace: true });
  const order = useQueryState("sort", "relevance");
  const sort = computed<"recent" | "relevance">({
    get: () => (order.value === "recent" ? "recent" : "relevance"),
    set: (value) => {
      order.value = value;
    },
  });
  const query = computed(
    (): SearchQuery => ({
      q: q.value,
      ...(facets.tool.value && { tool: facets.tool.value }),
      ...(facets.project.value && { project: facets.project.value }),
      ...(facets.kind.value && { kind: facets.kind.value }),
      ...(facets.from.value && { after: dayStart(facets.from.value) }),
      ...(facets.to.value && { before: dayStart(facets.to.value, 1) }),
      ...(facets.errors.value === "1" && { errors: "1" as const }),
      ...(sort.value !== "recent" && { sort: sort.value }),
    }),
  );
  return {
    ...facets,
    q,
    sort,
    query,
    active: computed(() => FACETS.filter((name) => facets[name].value !== "")),
    clear: (names: readonly Facet[]) => write(Object.fromEntries(names.map((name) => [name, undefined]))),
  };
}
