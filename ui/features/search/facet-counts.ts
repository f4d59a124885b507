/** How many sessions each value of a facet would leave: exact, of those that pass the other facets. */
import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { api, type QueryOf } from "../../client.ts";
import type { SearchAnswer } from "../../wire.ts";
import { useSearchFilters } from "./search-filters.ts";

type Result = SearchAnswer["results"][number];
const FACETS = ["tool", "project", "kind"] as const;
type Facet = (typeof FACETS)[number];
type Counts = ReadonlyMap<string, number>;
const LISTS = { tool: "tools", project: "projects", kind: "kinds" } as const;
const KEYS: Record<Facet, (one: Result) => readonly string[]> = {
  tool: (one) => [one.session.tool],
  project: (one) => [one.project.id],
  kind: (one) => one.matches.map(({ kind }) => kind),
};

/** `page`: what the words find without facets; `complete`: that is all of it. Where a page cannot tell, the service counts. */
export function useFacetCounts(page: () => { results: readonly Result[]; complete: boolean }) {
  const filters = useSearchFilters();
  const chosen = { tool: filters.tool, project: filters.project, kind: filters.kind };
  /** Three matches of a session are known: with more of them, its other kinds are not. */
  const isKnown = computed(
    () => page().complete && page().results.every((one) => one.matchCount <= one.matches.length),
  );
  const byPage = computed(() => {
    const counts = (own: Facet): Counts => {
      const others = FACETS.filter((one) => one !== own && chosen[one].value !== "");
      const passing = page().results.filter((one) =>
        others.every((name) => KEYS[name](one).includes(chosen[name].value)),
      );
      const all = new Map<string, number>();
      for (const one of passing) for (const key of new Set(KEYS[own](one))) all.set(key, (all.get(key) ?? 0) + 1);
      return all;
    };
    return { tool: counts("tool"), project: counts("project"), kind: counts("kind") };
  });
  const byService = useQuery({
    key: () => ["search", "facet-counts", filters.query.value],
    enabled: () => !isKnown.value,
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
  return computed(() => (isKnown.value ? byPage.value : byService.data.value));
}
