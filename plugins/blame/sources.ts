/** What the matching within a second reads: versions of the file, and calls from their logs. */
import { type Kernel, type Services, SessarcError } from "sessarc";
import { toolActions } from "sessarc/adapter";
import type { Sources } from "./match/seconds.ts";
import type { Step } from "./match/steps.ts";
import { fileAt, readPlaces, type Write } from "./writes.ts";

type BlamedFile = NonNullable<Awaited<ReturnType<Services["git"]["blameAt"]>>["file"]>;

export async function readSources(
  kernel: Kernel,
  project: string,
  root: string,
  file: BlamedFile,
  writes: readonly Write[],
): Promise<Sources> {
  const git = kernel.inject("git");
  const archive = kernel.inject("archive");
  const placeOf = await readPlaces(kernel, project, root);
  const known = new Map<number, Promise<readonly Step[] | undefined>>();
  const read = async ({ author, seq, file: own, elsewhere }: Write): Promise<readonly Step[] | undefined> => {
    if (elsewhere) return undefined;
    const row = await archive.get(author.id);
    const place = placeOf(row);
    for await (const [event] of archive.events(row, seq)) {
      const roles = archive.adapter(row.tool)?.tools ?? {};
      const name = event?.tool_name ?? "";
      const actions = toolActions(Object.hasOwn(roles, name) ? roles[name] : undefined, event?.tool_input) ?? [];
      const steps: Step[] = [];
      for (const action of actions) {
        if (action.do !== "write" && action.do !== "edit" && action.do !== "insert") return undefined;
        if (fileAt(action.path, place) === own) steps.push(action);
      }
      return steps;
    }
    return undefined;
  };
  return {
    async texts(commit) {
      const named = file.commits.get(commit)?.path;
      const previous = file.previous.get(commit);
      const paths = named === undefined ? file.names : [named];
      const after = await firstText(git, root, commit, paths);
      if (after === undefined) return undefined;
      if (named !== undefined && !previous) return { before: "", after };
      const parent = previous?.commit ?? (await readParent(git, root, commit));
      const before = parent && (await firstText(git, root, parent, previous ? [previous.path] : paths));
      return { before: before ?? "", after };
    },
    steps(write) {
      const one = writes[write];
      const found =
        known.get(write) ??
        (one ? read(one) : Promise.resolve(undefined)).catch((error: unknown) => {
          // The transcript is gone, or cannot be read: the call stays unknown.
          if (error instanceof SessarcError) return undefined;
          throw error;
        });
      known.set(write, found);
      return found;
    },
  };
}

/** The file under the first of its names that the commit has. */
async function firstText(git: Services["git"], root: string, commit: string, paths: readonly string[]) {
  for (const path of paths) {
    const text = await git.textAt(root, commit, path);
    if (text !== null) return text;
  }
  return undefined;
}

/** Undefined for the first commit. */
async function readParent(git: Services["git"], root: string, commit: string): Promise<string | undefined> {
  try {
    return await git.resolve(root, `${commit}~1`);
  } catch (error) {
    if (error instanceof SessarcError && error.code === "COMMIT_NOT_FOUND") return undefined;
    throw error;
  }
}
