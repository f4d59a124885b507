/** The hub: its services, and reloading them after a change. */
import { useQuery } from "@pinia/colada";
import { type Answer, api, type BodyOf } from "../../client.ts";
import { useRefresh } from "../../state/refresh.ts";

export type HubService = Answer<"GET /mcp/services">["services"][number];
export type HubTool = Answer<"GET /mcp/tools">["tools"][number];
export type ServicePatch = BodyOf<"PATCH /mcp/services/:id">;

export const useServices = () =>
  useQuery({ key: ["hub", "services"], query: ({ signal }) => api("GET /mcp/services", { signal }) });

export function useHubRefresh(): () => Promise<void> {
  const refresh = useRefresh();
  return () => refresh({ key: ["hub"] });
}
