/** The hub: its services, and asking anew after a change. */
import { useQuery, useQueryCache } from "@pinia/colada";
import { type Answer, api, type BodyOf } from "../client.ts";

export type HubService = Answer<"GET /mcp/services">["services"][number];
export type HubTool = Answer<"GET /mcp/tools">["tools"][number];
export type ServicePatch = BodyOf<"PATCH /mcp/services/:id">;

export const useServices = () =>
  useQuery({ key: ["hub", "services"], query: ({ signal }) => api("GET /mcp/services", { signal }) });

export function useHubRefresh(): () => Promise<unknown> {
  const cache = useQueryCache();
  // What cannot be asked anew says so where it stands.
  return () => cache.invalidateQueries({ key: ["hub"] }).catch(() => {});
}
