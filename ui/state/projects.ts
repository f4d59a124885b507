import { useQuery } from "@pinia/colada";
import { computed, type Ref } from "vue";
import { api } from "../client.ts";
import { inOrder } from "../components/base/tools.ts";
import { projectName } from "../format.ts";
import { toDistinctNames } from "./distinct-names.ts";

/** All projects at once, without git: a screen that needs it streams it (`useGitStates`). */
export const useProjects = () =>
  useQuery({ key: ["projects"], query: ({ signal }) => api("GET /projects", { query: { git: "0" }, signal }) });

/** Names of projects by id; projects of one name are told apart by the folders above theirs. */
export function useProjectNames() {
  const projects = useProjects();
  return computed(() =>
    toDistinctNames((projects.data.value ?? []).map((one) => ({ ...one, name: projectName(one.name) }))),
  );
}

/** Assistants that any project has sessions of, in their order. `chosen` is among them, whatever the archive has. */
export function useTools(chosen: Readonly<Ref<string>>) {
  const projects = useProjects();
  return computed(() =>
    inOrder([...(projects.data.value ?? []).flatMap((one) => one.tools), ...(chosen.value ? [chosen.value] : [])]),
  );
}
