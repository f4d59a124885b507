/** How many sessions each value of a facet would leave: exact, of those that pass the other facets. */
import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { api, type QueryOf } from "../../client.ts";
import { useSearchFilters } from "./search-filters.ts";

const FACETS = ["tool", "project", "kind"] as const;
type Facet = (typeof FACETS)[number];
type Counts = ReadonlyMap<string, number>;
const LISTS = { tool: "tools", project: "projects", kind: "kinds" } as const;

export function useFacetCounts() {
  const filters = useSearchFilters();
  const counts = useQuery({
    key: () => ["search", "facet-counts", filters.query.value],
    query: async ({ signal }) => {
      const ask = (query: QueryOf<"GET /search/total">) => api("GET /search/total", { query, signal });
      /** Without a chosen value all facets ask the same. */
      const asked = new Map<string, ReturnType<typeof ask>>();
      const count = async (own: Facet): Promise<Counts> => {
        const { sort: _, [own]: _own, ...query } = filters.query.value;
        const key = JSON.stringify(query);
        const answer = asked.get(key) ?? ask(query);
        asked.set(key, answer);
        const { facets } = await answer;
        return new Map(facets[LISTS[own]].map(({ id, sessions }) => [id, sessions]));
      };
      const [tool, project, kind] = await Promise.all(FACETS.map(count));
      return { tool, project, kind };
    },
    placeholderData: (before) => before,
  });
  return {
    counts: counts.data,
    /** They are there, or will not be. */
    isKnown: computed(() => counts.status.value !== "pending"),
  };
}
