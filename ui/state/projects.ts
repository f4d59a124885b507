import { useQuery } from "@pinia/colada";
import { computed } from "vue";
import { api } from "../client.ts";

/** All projects at once, without git: a screen that needs it streams it (`useGitStates`). */
export const useProjects = () =>
  useQuery({ key: ["projects"], query: ({ signal }) => api("GET /projects", { query: { git: "0" }, signal }) });

/** Names of projects by id. */
export function useProjectNames() {
  const projects = useProjects();
  return computed(() => new Map((projects.data.value ?? []).map((one) => [one.id, one.name])));
}
