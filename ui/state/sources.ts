/** Where each tool's logs are read, folders the user added among them. */
import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { type Answer, api } from "../client.ts";
import { useRefresh } from "./refresh.ts";

export type ToolSources = Answer<"GET /sources">["tools"][number];

export type OfferedHome = Answer<"GET /sources">["offered"][number];

export function useSources() {
  const refresh = useRefresh();
  const query = useQuery({ key: ["sources"], query: ({ signal }) => api("GET /sources", { signal }) });
  const changed = () => refresh({ key: ["sources"] }, { key: ["scan"] });
  return {
    tools: computed(() => query.data.value?.tools ?? []),
    /** Assistants found here whose conversations cannot be read. */
    closed: computed(() => query.data.value?.closed ?? []),
    /** Homes on the other side of Windows and WSL. */
    offered: computed(() => query.data.value?.offered ?? []),
    data: query.data,
    error: query.error,
    refetch: () => query.refetch(),
    /** Throws ApiError with the service's own words. Answers how many sessions are there. */
    async add(tool: string, path: string): Promise<number> {
      const { sessions } = await api("POST /sources", { body: { tool, path } });
      await changed();
      return sessions;
    },
    /** Reads a home for each of its assistants. */
    async addHome({ path, tools }: OfferedHome): Promise<void> {
      try {
        for (const { tool } of tools) await api("POST /sources", { body: { tool, path } });
      } finally {
        await changed();
      }
    },
    async remove(tool: string, path: string): Promise<void> {
      await api("DELETE /sources", { query: { tool, path } });
      await changed();
    },
  };
}
