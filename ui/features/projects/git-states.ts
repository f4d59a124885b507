/** Git of all projects (or one), each as it comes. What was known before stands until the new state is there. */
import { onScopeDispose, ref, shallowReactive } from "vue";
import { pathOf } from "../../client-path.ts";
import type { Project } from "../../wire.ts";

/** `failed`: the service could not be asked. */
export type GitState = Project["git"] | "failed";
const known = shallowReactive(new Map<string, GitState>());

export function useGitStates(project?: () => string) {
  // The first question is on its way as soon as the screen stands.
  const running = ref(true);
  let source: EventSource | undefined;
  function close(): void {
    source?.close();
    source = undefined;
    running.value = false;
  }
  function ask(): void {
    close();
    running.value = true;
    source = new EventSource(pathOf("/projects/git", undefined, { project: project?.() }));
    source.onmessage = (event: MessageEvent<string>) => {
      const { id, git } = JSON.parse(event.data) as { id: string; git: GitState };
      known.set(id, git);
    };
    // Each query reads git once: the connection is not reopened automatically.
    source.addEventListener("end", close);
    source.onerror = close;
  }
  onScopeDispose(close);
  return {
    ask,
    running,
    /** Undefined while it is not known yet; null without a repository. */
    of(id: string): GitState | undefined {
      const state = known.get(id);
      return state === undefined && !running.value ? "failed" : state;
    },
  };
}
