import { useQuery } from "@pinia/colada";
import { computed, type Ref } from "vue";
import { api } from "../client.ts";
import { inOrder } from "../components/base/tools.ts";
import { projectName } from "../format.ts";

/** All projects at once, without git: a screen that needs it streams it (`useGitStates`). */
export const useProjects = () =>
  useQuery({ key: ["projects"], query: ({ signal }) => api("GET /projects", { query: { git: "0" }, signal }) });

/** Names of projects by id; projects of one name are told apart by the folders above theirs. */
export function useProjectNames() {
  const projects = useProjects();
  return computed(() => toDistinctNames(projects.data.value ?? []));
}

interface Named {
  id: string;
  name: string;
  path: string | null;
}

/** `demo`, or `work/demo` where another project is named `demo`, with as many folders as it takes. */
export function toDistinctNames(projects: readonly Named[]): Map<string, string> {
  const names = new Map(projects.map(({ id, name }) => [id, projectName(name)]));
  const above = ({ path }: Named) => (path ?? "").split(/[\\/]/).filter(Boolean).slice(0, -1);
  for (let depth = 1; depth <= 3; depth++) {
    const counts = new Map<string, number>();
    for (const name of names.values()) counts.set(name, (counts.get(name) ?? 0) + 1);
    for (const project of projects) {
      const folders = above(project);
      if ((counts.get(names.get(project.id) ?? "") ?? 0) < 2 || folders.length < depth) continue;
      names.set(project.id, [...folders.slice(-depth), project.name].join("/"));
    }
  }
  return names;
}

/** Assistants that any project has sessions of, in their order. `chosen` is among them, whatever the archive has. */
export function useTools(chosen: Readonly<Ref<string>>) {
  const projects = useProjects();
  return computed(() =>
    inOrder([...(projects.data.value ?? []).flatMap((one) => one.tools), ...(chosen.value ? [chosen.value] : [])]),
  );
}
