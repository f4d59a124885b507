/** Names that tell projects apart. */

interface Named {
  id: string;
  name: string;
  path: string | null;
}

/** `demo`, or `work/demo` where another project is named `demo`, with as many folders as it takes. */
export function toDistinctNames(projects: readonly Named[]): Map<string, string> {
  const names = new Map(projects.map(({ id, name }) => [id, name]));
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
