/** Where each tool's logs are read, folders the user added among them. */
import { useQuery, useQueryCache } from "@pinia/colada";
import { computed } from "vue";
import { type Answer, api } from "../client.ts";

export type ToolSources = Answer<"GET /sources">["tools"][number];

export function useSources() {
  const cache = useQueryCache();
  const query = useQuery({ key: ["sources"], query: ({ signal }) => api("GET /sources", { signal }) });
  const changed = () => Promise.all([query.refetch(), cache.invalidateQueries({ key: ["scan"] })]);
  return {
    tools: computed(() => query.data.value?.tools ?? []),
    data: query.data,
    error: query.error,
    refetch: () => query.refetch(),
    /** Throws ApiError with the service's own words. Answers how many sessions are there. */
    async add(tool: string, path: string): Promise<number> {
      const { sessions } = await api("POST /sources", { body: { tool, path } });
      await changed();
      return sessions;
    },
    async remove(tool: string, path: string): Promise<void> {
      await api("DELETE /sources", { query: { tool, path } });
      await changed();
    },
  };
}
